import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct BalanceTests {
  private static let names = ["a", "b", "c"]
  let journal = Journal()

  private func behaviors(
    failing: (name: String, hook: JournalBehavior.Hook)? = nil
  ) -> [any RequestBehavior] {
    Self.names.map { name in
      JournalBehavior(name: name, journal: journal, failing: failing?.name == name ? failing?.hook : nil)
    }
  }

  private func expectBalance(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    for name in Self.names {
      let ends = journal.count(of: "\(name).afterSuccess") + journal.count(of: "\(name).afterFailure")
      #expect(journal.count(of: "\(name).beforeSend") == ends, comment, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [200, 204, 404, 500])
  func `promise 2: the hooks are balanced for every status`(status: Int) async {
    _ = try? await NetworkClient(ClosureTransport(status), behaviors()).send(Request<NetworkResponse>.get("x"))
    expectBalance()
    let end = status < 300 ? "afterSuccess" : "afterFailure"
    #expect(Self.names.allSatisfy { journal.count(of: "\($0).\(end)") == 1 })
  }

  @Test func `promise 2: the hooks are balanced when the transport throws`() async {
    let transport = ClosureTransport { _ in throw Failure("down") }
    await #expect(throws: Failure("down")) { try await NetworkClient(transport, behaviors()).send(.get("x")) }
    expectBalance()
    #expect(journal.entries.suffix(3) == ["c.afterFailure", "b.afterFailure", "a.afterFailure"])
  }

  @Test(arguments: names, JournalBehavior.Hook.allCases)
  func `promise 2: the hooks are balanced when any hook of any position throws`(
    name: String, hook: JournalBehavior.Hook
  ) async {
    let client = NetworkClient(ClosureTransport(), behaviors(failing: (name, hook)))
    await #expect(throws: Failure("\(name).\(hook.rawValue)")) { try await client.send(.get("x")) }
    expectBalance("\(name).\(hook)")
  }

  @Test func `promise 2: when an afterSuccess throws, behaviors further out get afterFailure`() async {
    let client = NetworkClient(ClosureTransport(), behaviors(failing: ("b", .afterSuccess)))
    await #expect(throws: Failure.self) { try await client.send(.get("x")) }
    #expect(journal.entries.filter { $0.contains(".after") } == ["c.afterSuccess", "b.afterSuccess", "a.afterFailure"])
  }

  @Test func `promise 2: a short circuit calls afterSuccess further out and no hook further in`()
    async throws
  {
    var list = behaviors()
    list.insert(
      ClosureBehavior("short") { request, _ in NetworkResponse(request: request, statusCode: 200) }, at: 1)
    let transport = ClosureTransport()
    try await NetworkClient(transport, list).send(.get("x"))
    expectBalance()
    #expect(journal.count(of: "a.afterSuccess") == 1)
    #expect(journal.count(of: "b.beforeSend") == 0)
    #expect(transport.sent.isEmpty)
  }

  @Test func `promise 2: the hooks are balanced when next is called twice`() async throws {
    var list = behaviors()
    list.insert(
      ClosureBehavior("twice") { request, next in
        _ = try await next(request)
        return try await next(request)
      }, at: 1)
    try await NetworkClient(ClosureTransport(statuses: [500, 200]), list).send(.get("x"))
    expectBalance()
    #expect(journal.count(of: "a.afterSuccess") == 1)
    #expect(journal.count(of: "b.afterFailure") == 1)
    #expect(journal.count(of: "b.afterSuccess") == 1)
  }

  @Test func `promise 2: the hooks are balanced when next is called concurrently`() async throws {
    var list = behaviors()
    list.insert(
      ClosureBehavior("both") { request, next in
        async let first = next(request)
        async let second = next(request)
        return try await [first, second][0]
      }, at: 1)
    try await NetworkClient(ClosureTransport(), list).send(.get("x"))
    expectBalance()
    #expect(journal.count(of: "c.afterSuccess") == 2)
  }

  @Test func `promise 2: the hooks are balanced when a cache validates a stored response`() async throws {
    let transport = ClosureTransport { request in
      let isConfirmed = request.headers["If-None-Match"] == "\"1\""
      return NetworkResponse(request: request, statusCode: isConfirmed ? 304 : 200, headers: ["ETag": "\"1\""])
    }
    var list = behaviors()
    list.insert(.caching(MemoryCacheStore()), at: 1)
    let gauge = Box(0)
    list.append(
      ClosureBehavior(
        "gauge", beforeSend: { _ in gauge.update { $0 += 1 } }, afterSuccess: { _, _ in gauge.update { $0 -= 1 } },
        afterFailure: { _, _ in gauge.update { $0 -= 1 } }))
    let client = NetworkClient(transport, list)
    for _ in 0..<100 { try await client.send(.get("x")) }
    #expect(gauge.value == 0)
    expectBalance()
    // The cache stands outside of all of them, and each 304 is a success.
    #expect(Self.names.allSatisfy { journal.count(of: "\($0).afterSuccess") == 100 })
  }

  @Test(arguments: [304, 500])
  func `promise 2: the hooks are balanced when a validation is redirected, refused or thrown`(status: Int) async throws
  {
    let isThrowing = Box(false)
    let transport = ClosureTransport { request in
      guard request.headers.contains("If-None-Match") || request.url.path().hasSuffix("y") else {
        return NetworkResponse(request: request, statusCode: 200, headers: ["ETag": "\"1\""])
      }
      if isThrowing.value { throw Failure("down") }
      let isFirst = request.headers.contains("If-None-Match")
      return NetworkResponse(
        request: request, statusCode: isFirst && status == 304 ? 307 : status, headers: ["Location": "y"])
    }
    let client = NetworkClient(transport, [.caching(MemoryCacheStore())] + behaviors())
    try await client.send(.get("x"))
    _ = try? await client.send(.get("x"))
    isThrowing.value = true
    _ = try? await client.send(.get("x"))
    expectBalance("\(status)")
    #expect(journal.count(of: "a.beforeSend") > 2)
  }

  @Test(arguments: names, JournalBehavior.Hook.allCases)
  func `promises 2 and 6: the hooks are balanced when the task is cancelled in any hook of any position`(
    name: String, hook: JournalBehavior.Hook
  ) async {
    let task = Box<Task<Void, any Error>?>(nil)
    let list = Self.names.map { each in
      JournalBehavior(
        name: each, journal: journal,
        action: { reached in if each == name, reached == hook { task.value?.cancel() } })
    }
    let client = NetworkClient(ClosureTransport(), list)
    let (start, starter) = AsyncStream<Void>.makeStream()
    task.value = Task {
      for await _ in start {}
      try await client.send(.get("x"))
    }
    starter.finish()
    let result = await task.value?.result
    expectBalance("\(name).\(hook)")
    let isOver = hook == .afterSuccess || hook == .interceptAfter
    #expect(journal.entries.contains("a.afterFailure") == !isOver || !journal.entries.contains("a.beforeSend"))
    if isOver {
      #expect(throws: Never.self) { try result?.get() }
    } else {
      #expect(throws: CancellationError.self) { try result?.get() }
    }
  }
}
