import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A request that was cancelled before its batch went is not sent.
@Suite(.limited) struct BatchCancellationTests {
  private let clock = ManualClock()
  private let events = RecordedEvents()

  /// Answers with the last component of the path or the ids of the query.
  private let server = ClosureTransport { request in
    NetworkResponse(
      request: request, statusCode: 200,
      body: .data(Data((request.url.query() ?? request.url.lastPathComponent).utf8)))
  }

  private func client(size: Int = 50) -> NetworkClient {
    let batch = BatchBehavior(
      size: size, group: { _ in "all" },
      merge: { requests in
        var merged = requests[0]
        let ids = requests.map(\.url.lastPathComponent).joined(separator: ",")
        merged.url = try #require(URL(string: "https://api.example.com/v1/users?\(ids)"))
        return merged
      },
      split: { response, requests in
        requests.map { request in
          var own = response
          own.body = .data(Data(request.url.lastPathComponent.utf8))
          return .success(own)
        }
      })
    return NetworkClient(server, clock.requestClock, [events, batch])
  }

  /// Begins calls one after the other, each when the one before waits in the batch.
  private func begin(_ names: [String], _ client: NetworkClient) async -> [Task<String, any Error>] {
    var calls: [Task<String, any Error>] = []
    for name in names {
      let before = events.count("waits")
      calls.append(Task { try await client.send(Request<String>.get("users/\(name)")) })
      await events.waitFor(before + 1, "waits")
    }
    return calls
  }

  @Test(arguments: [0, 1, 2])
  func `a request that is cancelled while it waits for others is left out`(index: Int) async throws {
    let names = ["a", "b", "c"]
    let calls = await begin(names, client())
    calls[index].cancel()
    await #expect(throws: CancellationError.self) { try await calls[index].value }
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    let rest = names.indices.filter { $0 != index }
    for other in rest { #expect(try await calls[other].value == names[other]) }
    #expect(server.sent.map { $0.url.query() } == [rest.map { names[$0] }.joined(separator: ",")])
  }

  @Test func `the remaining request is sent unchanged`() async throws {
    let calls = await begin(["a", "b"], client())
    calls[0].cancel()
    await #expect(throws: CancellationError.self) { try await calls[0].value }
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    #expect(try await calls[1].value == "b")
    #expect(server.sent.map(\.url.lastPathComponent) == ["b"])
  }

  @Test func `another request takes the place of a cancelled one`() async throws {
    let client = client(size: 2)
    let first = await begin(["a"], client)
    first[0].cancel()
    await #expect(throws: CancellationError.self) { try await first[0].value }
    let calls = await begin(["b", "c"], client)
    #expect(try await calls[0].value == "b")
    #expect(try await calls[1].value == "c")
    #expect(server.sent.map { $0.url.query() } == ["b,c"])
  }

  @Test func `a request that is cancelled already does not fill a batch`() async throws {
    let client = client(size: 2)
    let waiting = await begin(["a"], client)
    let gate = TestGate()
    let held = ClosureBehavior("held", order: .deadline) { request, next in
      await gate.pass()
      return try await next(request)
    }
    let late = client.with { $0.behaviors.append(held) }
    let call = Task { try await late.send(.get("users/b")) }
    await gate.waitForArrivals(1)
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(server.sent.isEmpty)
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    #expect(try await waiting[0].value == "a")
  }

  @Test func `the last to leave a batch from before a reset does not close the newer one`() async throws {
    let client = client()
    let old = await begin(["a"], client)
    await clock.waitForSleepers(1)
    await client.reset()
    let new = await begin(["b"], client)
    await clock.waitForSleepers(2)
    old[0].cancel()
    await #expect(throws: CancellationError.self) { try await old[0].value }
    let joined = await begin(["c"], client)
    clock.advance(by: .milliseconds(10))
    #expect(try await new[0].value == "b")
    #expect(try await joined[0].value == "c")
    #expect(server.sent.map { $0.url.query() } == ["b,c"])
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `over random schedules no request is sent for callers who were cancelled before the window ended`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let names = (0..<8).map { "n\($0)" }
    let calls = await begin(names, client())
    let cancelled = Set(names.indices.filter { _ in Bool.random(using: &random) })
    for index in cancelled.shuffled(using: &random) {
      calls[index].cancel()
      await #expect(throws: CancellationError.self) { try await calls[index].value }
    }
    let rest = names.indices.filter { !cancelled.contains($0) }
    guard !rest.isEmpty else { return #expect(clock.sleeperCount == 0) }
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    for index in rest { #expect(try await calls[index].value == names[index]) }
    let sent = server.sent.flatMap {
      ($0.url.query() ?? $0.url.lastPathComponent).split(separator: ",").map(String.init)
    }
    #expect(sent == rest.map { names[$0] })
  }
}
