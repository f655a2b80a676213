import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct BatchBehaviorTests {
  private let clock = ManualClock()
  private let events = RecordedEvents()

  /// Answers `users?ids=1,2` with what each has.
  private let server = ClosureTransport { request in
    let ids = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems?.first?.value
    guard let ids else {
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(request.url.lastPathComponent.utf8)))
    }
    return NetworkResponse(request: request, statusCode: ids.contains("500") ? 500 : 200, body: .data(Data(ids.utf8)))
  }

  private func batch(size: Int = 50, split: BatchBehavior.Split? = nil) -> BatchBehavior {
    BatchBehavior(
      "users", window: .milliseconds(10), size: size,
      group: { $0.endpoint == "users/{}" ? "users" : nil },
      merge: { requests in
        var merged = requests[0]
        let ids = requests.map(\.url.lastPathComponent).joined(separator: ",")
        merged.url = try #require(URL(string: "https://api.example.com/v1/users?ids=\(ids)"))
        return merged
      },
      split: split ?? { response, requests in
        try response.text.split(separator: ",").map { id in
          var own = response
          own.body = .data(Data(id.utf8))
          return id == "404" ? .failure(Failure("none")) : .success(own)
        }
      })
  }

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(server, clock.requestClock, [events] + behaviors)
  }

  /// Sends requests for users, and lets the window pass when all wait, in so many batches.
  private func users(
    _ ids: [String], _ client: NetworkClient, headers: [String: HeaderFields] = [:], batches: Int = 1
  ) async -> [Result<Response<String>, any Error>] {
    var calls: [Task<Response<String>, any Error>] = []
    let before = events.count("waits")
    for (index, id) in ids.enumerated() {
      calls.append(Task { try await client.response(for: .get("users/\(id)", headers: headers[id] ?? [:])) })
      await events.waitFor(before + index + 1, "waits")
    }
    await clock.waitForSleepers(batches)
    clock.advance(by: .milliseconds(10))
    var results: [Result<Response<String>, any Error>] = []
    for call in calls { results.append(await call.result) }
    return results
  }

  @Test func `requests of a group within the window are sent as one, and each gets its part`() async throws {
    let results = await users(["1", "2", "3"], client(batch()))
    let responses = try results.map { try $0.get() }
    #expect(responses.map(\.value) == ["1", "2", "3"])
    #expect(server.sent.map { $0.url.query() } == ["ids=1,2,3"])
    #expect(responses.allSatisfy { $0.http.attempts.count == 1 })
  }

  @Test func `a full batch is sent at once, a single request unchanged, and other requests are not affected`()
    async throws
  {
    let client = client(batch(size: 2))
    async let first = client.send(Request<String>.get("users/\(1)"))
    async let second = client.send(Request<String>.get("users/\(2)"))
    #expect(try await Set([first, second]) == ["1", "2"])
    #expect(server.sent.count == 1)
    // Only the window of this one: that of the full one has ended.
    #expect(clock.sleeperCount == 0)
    let alone = await users(["7"], client)
    #expect(try alone[0].get().value == "7")
    #expect(server.sent.last?.url.query() == nil)
    try await client.send(.get("other"))
    try await client.send(.get("users/\(1)").with(\.bypassesBatching, true))
    #expect(server.sent.count == 4)
  }

  @Test func `requests of other users or with other fields are not merged`() async throws {
    let headers: [String: HeaderFields] = ["2": ["Authorization": "Bearer bob"], "3": ["Accept": "text/html"]]
    let results = await users(["1", "2", "3"], client(batch()), headers: headers, batches: 3)
    for result in results { _ = try result.get() }
    #expect(server.sent.count == 3)
  }

  @Test func `requests with other secrets in query or body are not merged`() async throws {
    let batch = BatchBehavior(
      window: .milliseconds(10), group: { _ in "all" }, merge: { $0[0] },
      split: { response, requests in requests.map { _ in .success(response) } })
    let client = client(batch)
    func body(_ token: String, _ id: Int) -> RequestContent { .json(["token": token, "password": "p", "id": "\(id)"]) }
    let requests: [Request<Void>] = [
      .get("a", query: ["token": "alice", "id": 1]), .get("b", query: ["token": "alice", "id": 2]),
      .get("c", query: ["token": "bob", "id": 3]), .get("d", query: ["id": 4]),
      .post("a", body: body("alice", 1)), .post("b", body: body("alice", 2)), .post("c", body: body("bob", 3)),
    ]
    let calls = requests.map { request in Task { try await client.send(request) } }
    await events.waitFor(requests.count, "waits")
    await clock.waitForSleepers(5)
    clock.advance(by: .milliseconds(10))
    for call in calls { try await call.value }
    #expect(server.sent.count == 5)
  }

  @Test func `each caller may have its own failure, and a failed response fails all`() async throws {
    let some = await users(["1", "404"], client(batch()))
    #expect(try some[0].get().value == "1")
    #expect(throws: Failure("none")) { try some[1].get() }
    for result in await users(["1", "500"], client(batch())) {
      let error = #expect(throws: NetworkError.self) { try result.get() }
      #expect(error?.statusCode == 500)
    }
  }

  @Test func `a split that throws or returns too few fails all`() async throws {
    for result in await users(["1", "2"], client(batch(split: { _, _ in throw Failure("split") }))) {
      #expect(throws: Failure("split")) { try result.get() }
    }
    for result in await users(["1", "2"], client(batch(split: { _, _ in [] }))) {
      let error = #expect(throws: NetworkError.self) { try result.get() }
      #expect(error?.code == .invalidBehavior)
    }
  }

  @Test func `one caller's cancellation does not affect the others`() async throws {
    let client = client(batch())
    let first = Task { try await client.send(Request<String>.get("users/\(1)")) }
    await events.waitFor(1, "waits")
    let second = Task { try await client.send(Request<String>.get("users/\(2)")) }
    await events.waitFor(2, "waits")
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    #expect(try await second.value == "2")
  }

  @Test func `a caller who comes after all of a batch have been cancelled begins another batch`() async throws {
    let client = client(batch())
    for round in 1...20 {
      let first = Task { try await client.send(Request<String>.get("users/\(1)")) }
      await events.waitFor(2 * round - 1, "waits")
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
      let second = Task { try await client.send(Request<String>.get("users/\(2)")) }
      await events.waitFor(2 * round, "waits")
      await clock.waitForSleepers(1)
      clock.advance(by: .milliseconds(10))
      #expect(try await second.value == "2")
    }
  }

  @Test func `a shutdown ends the calls that wait for a batch`() async throws {
    let client = client(batch())
    let call = Task { try await client.send(.get("users/\(1)")) }
    await clock.waitForSleepers(1)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .clientShutDown)
  }

  @Test func `a batch without waiting callers is cancelled`() async throws {
    let client = client(batch())
    let call = Task { try await client.send(.get("users/\(1)")) }
    await clock.waitForSleepers(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(clock.sleeperCount == 0)
    #expect(server.sent.isEmpty)
  }

  @Test func `a full batch releases its calls and its timer before its window ends`() async throws {
    let made = Kept()
    let keeping = ClosureBehavior("keeping", order: .observation) { request, next in
      made.keep(request.call)
      return try await next(request)
    }
    let client = client(batch(size: 2), keeping)
    for round in 1...20 {
      async let first: String = client.send(.get("users/\(2 * round)"))
      async let second: String = client.send(.get("users/\(2 * round + 1)"))
      #expect(try await Set([first, second]) == ["\(2 * round)", "\(2 * round + 1)"])
    }
    // The clock does not move: the windows are not over.
    while made.count > 0 { await Task.yield() }
    #expect(server.sent.count == 20)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `after a reset requests begin a new batch, and the old one is sent too`() async throws {
    let client = client(batch())
    let before = Task { try await client.send(Request<String>.get("users/\(1)")) }
    await clock.waitForSleepers(1)
    await client.reset()
    let after = Task { try await client.send(Request<String>.get("users/\(2)")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(10))
    #expect(try await before.value == "1")
    #expect(try await after.value == "2")
    #expect(Set(server.sent.map(\.url.lastPathComponent)) == ["1", "2"])
  }

  @Test func `streams are not merged`() async throws {
    let client = client(batch(size: 2))
    async let first = client.stream(.get("users/\(1)"))
    async let second = client.stream(.get("users/\(2)"))
    #expect(try await Set([first.text, second.text]) == ["1", "2"])
    #expect(server.sent.count == 2)
  }
}

/// The calls that have not been released.
private final class Kept: Sendable {
  private struct Reference { weak var call: Call? }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var references: [Reference] = []

  var count: Int { lock.withLock { references.count { $0.call != nil } } }

  func keep(_ call: Call) { lock.withLock { references.append(Reference(call: call)) } }
}
