import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owners of shared responses, if a credential is added further in than the key.
@Suite(.limited) struct CredentialSharingTests {
  private let user = Box("alice")
  private let events = RecordedEvents()
  private let gate = TestGate()

  /// A behavior that adds the user's ticket, without a scope unless configured to give one.
  private func ticket(scoped: Bool = false) -> ClosureBehavior {
    let user = user
    return ClosureBehavior(
      "ticket", order: .authentication, headers: { _ in ["Authorization": user.value] },
      scope: { _ in scoped ? user.value : nil })
  }

  /// Answers with the ticket that came; the first send waits at the gate.
  private func server(status: Int = 200) -> ClosureTransport {
    let gate = gate
    let isFirst = Box(true)
    return ClosureTransport { request in
      if isFirst.update({ isFirst in
        defer { isFirst = false }
        return isFirst
      }) {
        await gate.pass()
      }
      let ticket = request.headers["Authorization"] ?? ""
      return NetworkResponse(request: request, statusCode: status, body: .data(Data(ticket.utf8)))
    }
  }

  // MARK: Coalescing

  @Test func `a flight with an uncovered credential serves only its first caller, the others send their own`()
    async throws
  {
    let transport = server()
    let client = NetworkClient(transport, [.coalescing(), ticket(), events])
    let alice = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    user.value = "bob"
    let bob = Task { try await client.send(Request<String>.get("me")) }
    await events.waitFor(1, "joined")
    gate.open()
    #expect(try await alice.value == "alice")
    #expect(try await bob.value == "bob")
    #expect(transport.sent.count == 2)
  }

  @Test func `a caller who joined does not get the response of a first one that has left`() async throws {
    let transport = server()
    let client = NetworkClient(transport, [.coalescing(), ticket(), events])
    let alice = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    user.value = "bob"
    let bob = Task { try await client.send(Request<String>.get("me")) }
    await events.waitFor(1, "joined")
    alice.cancel()
    _ = await alice.result
    gate.open()
    #expect(try await bob.value == "bob")
  }

  @Test func `a failure for an unknown user is not shared either`() async throws {
    let transport = server(status: 403)
    let failing = ClosureBehavior("failing", order: .inside(.coalescing)) { request, next in
      throw NetworkError.unacceptableStatus(try await next(request))
    }
    let client = NetworkClient(transport, [.coalescing(), failing, ticket(), events])
    let alice = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    user.value = "bob"
    let bob = Task { try await client.send(Request<String>.get("me")) }
    await events.waitFor(1, "joined")
    gate.open()
    _ = await alice.result
    let error = await #expect(throws: NetworkError.self) { try await bob.value }
    #expect(try error?.response?.text == "bob")
  }

  @Test func `a scope lets callers share`() async throws {
    let transport = server()
    let client = NetworkClient(transport, [.coalescing(), ticket(scoped: true), events])
    let calls = (0..<3).map { _ in Task { try await client.send(Request<String>.get("me")) } }
    await gate.waitForArrivals(1)
    await events.waitFor(2, "joined")
    gate.open()
    for call in calls { #expect(try await call.value == "alice") }
    #expect(transport.sent.count == 1)
  }

  @Test func `calls of one user with different passwords do not share`() async throws {
    let transport = server()
    let coalescer = Coalescer()
    let client = NetworkClient(transport, [.coalescing(coalescer), .basicAuth(user: "u", password: "right")])
    let other = Request<String>.get("me").with(.basicAuth(user: "u", password: "wrong"))
    let right = Task { try await client.send(Request<String>.get("me").with(\.coalescing, .named("me"))) }
    await gate.waitForArrivals(1)
    _ = try await client.send(other.with(\.coalescing, .named("me")))
    #expect(transport.sent.count == 2)
    gate.open()
    _ = try await right.value
  }

  @Test func `calls over a transport that adds cookies do not share`() async throws {
    let transport = CookieTransport(base: server())
    let client = NetworkClient(transport, [.coalescing(), events])
    let first = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    _ = try await client.send(Request<String>.get("me"))
    #expect(transport.base.sent.count == 2)
    gate.open()
    _ = try await first.value
  }

  private struct CookieTransport: Transport {
    let base: ClosureTransport

    func send(_ request: NetworkRequest) async throws -> NetworkResponse { try await base.send(request) }

    func addsCredentials(to request: NetworkRequest) -> Bool { true }

    func shutdown() async {}
  }

  // MARK: Hedging

  @Test func `a hedge with another user's credential is not stored`() async throws {
    let (clock, store, user) = (ManualClock(), MemoryCacheStore(), user)
    let gate = gate
    let transport = ClosureTransport { request in
      let ticket = request.headers["Authorization"] ?? ""
      if ticket == "alice" { await gate.pass() }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data(ticket.utf8)))
    }
    let client = NetworkClient(
      transport, clock.requestClock, [.caching(store), .hedging(after: .milliseconds(50)), ticket()])
    let call = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    user.value = "bob"
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(50))
    gate.open()
    _ = try await call.value
    #expect(store.count == 0)
  }

  // MARK: Batches

  private func batch() -> BatchBehavior {
    BatchBehavior(
      "users", size: 2, group: { $0.endpoint == "users/{}" ? "users" : nil },
      merge: { requests in
        var merged = requests[0]
        merged.url = merged.url.deletingLastPathComponent()
        return merged
      },
      split: { response, requests in requests.map { _ in .success(response) } })
  }

  /// Sends two requests that go into one batch; the user changes in between.
  private func sendTwo(_ client: NetworkClient, method: RequestMethod = .get) async throws -> [String] {
    let first = Task { try await client.send(Request<String>(method, "users/\(1)")) }
    await events.waitFor(1, "waits")
    let second = Task { try await client.send(Request<String>(method, "users/\(2)")) }
    return try await [first.value, second.value]
  }

  @Test(arguments: [RequestMethod.get, .post])
  func `a merged request is not sent with the credential of one caller, and each request is sent alone`(
    method: RequestMethod
  )
    async throws
  {
    gate.open()
    let transport = server()
    let client = NetworkClient(transport, [events, batch(), ticket()])
    #expect(try await sendTwo(client, method: method) == ["alice", "alice"])
    #expect(transport.sent.map(\.url.lastPathComponent).sorted() == ["1", "2"])
  }

  @Test func `a merged request is not repeated because its owner is unknown`() async throws {
    gate.open()
    let transport = server()
    let client = NetworkClient(transport, [events, .retry(), batch(), ticket()])
    _ = try await sendTwo(client)
    #expect(transport.sent.count == 2)
  }

  /// A transport that has a cookie as soon as it got a response.
  private struct SettingCookieTransport: Transport {
    let base: ClosureTransport

    func send(_ request: NetworkRequest) async throws -> NetworkResponse { try await base.send(request) }

    func addsCredentials(to request: NetworkRequest) -> Bool { !base.sent.isEmpty }

    func shutdown() async {}
  }

  /// Repeats a request that failed.
  private let again = ClosureBehavior("again", order: .retry) { request, next in
    let response = try await next(request)
    return response.statusCode == 503 ? try await next(request) : response
  }

  @Test(arguments: [303, 503])
  func `a merged POST that was sent is not sent again one by one, whatever credential its response had`(
    status: Int
  ) async throws {
    let transport = SettingCookieTransport(base: ClosureTransport(status, headers: ["Location": "users"]))
    let client = NetworkClient(transport, ManualClock().requestClock, [events, again, batch()])
    let calls = (1...2).map { number in Task { try await client.send(.post("users/\(number)")) } }
    for call in calls {
      let error = await #expect(throws: NetworkError.self) { try await call.value }
      #expect(error?.code == .invalidBehavior)
      #expect(error?.attempts.count == 1)
      #expect(error?.mayHaveArrived == true)
    }
    #expect(transport.base.sent.count == 1)
  }

  @Test func `a merged GET that cannot be sent again is sent one by one`() async throws {
    let transport = SettingCookieTransport(base: ClosureTransport(statuses: [503, 200]))
    let client = NetworkClient(transport, ManualClock().requestClock, [events, again, batch()])
    let calls = (1...2).map { number in Task { try await client.send(.get("users/\(number)")) } }
    for call in calls { try await call.value }
    #expect(transport.base.sent.dropFirst().map(\.url.lastPathComponent).sorted() == ["1", "2"])
  }

  @Test func `a scope allows a merged request`() async throws {
    gate.open()
    let transport = server()
    let client = NetworkClient(transport, [events, batch(), ticket(scoped: true)])
    _ = try await sendTwo(client)
    #expect(transport.sent.map(\.url.lastPathComponent) == ["users"])
  }
}
