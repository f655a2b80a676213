import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct SendCheckTests {
  private let session = CheckingSession()

  @Test func `the check of a session is added once to a call`() async throws {
    let client = NetworkClient(ClosureTransport(statuses: [503, 200]), .immediate, [.retry(), session])
    try await client.send(.get("x"))
    #expect(session.checked.value == ["renewed", "renewed"])
  }

  @Test func `each call has its own check of a session`() async throws {
    let client = NetworkClient(ClosureTransport(), [session])
    try await client.send(.get("x"))
    try await client.send(.get("y"))
    #expect(session.checked.value == ["renewed", "renewed"])
  }

  @Test func `two sessions have a check each`() async throws {
    let other = CheckingSession()
    try await NetworkClient(ClosureTransport(), [session, other]).send(.get("x"))
    #expect(session.checked.value.count == 1)
    #expect(other.checked.value.count == 1)
  }

  @Test func `a session that ends waits for a request that has passed its check`() async throws {
    let isHandedOver = Box<Bool?>(nil)
    let client = NetworkClient(ClosureTransport(), [session])
    session.onCheck.value = { [session] in isHandedOver.value = session.handOvers.makeWait() != nil }
    try await client.send(.get("x"))
    #expect(isHandedOver.value == true)
    #expect(session.handOvers.makeWait() == nil)
  }
}

/// A session that renews the token of each request, and keeps those that it was asked to check.
private struct CheckingSession: RequestBehavior {
  let order = BehaviorOrder.authentication
  let handOvers = HandOvers()
  let checked = Box<[String]>([])
  let onCheck = Box<@Sendable () -> Void>({})

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    request.call.addSendCheck(
      of: checked, handOvers: handOvers,
      renewal: { $0.headers["X-Token"] = "renewed" },
      check: { [checked, onCheck] request in
        checked.update { $0.append(request.headers["X-Token"] ?? "none") }
        onCheck.value()
      })
    return try await next(request)
  }
}
