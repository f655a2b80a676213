import Foundation
import RequestBehaviors
import Testing

@Suite struct PrerequisiteTests {
  /// Keeps the sub-client's pipeline and makes a request with it first.
  private struct Prerequisite: RequestBehavior {
    let order = BehaviorOrder.authentication
    let pipeline = Box<[String]>([])
    let parents = Box<[Call.ID?]>([])

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      let client = next.client(omitting: EmptyBehavior.self)
      pipeline.value = try client.pipeline(for: Request<Void>.get("token")).entries.map(\.name)
      let answer: NetworkResponse = try await client.send(.post("token"))
      parents.update { $0 += [answer.request.call.parent, request.call.id] }
      return try await next(request)
    }
  }

  @Test func `a prerequisite client has what cannot wait for its caller, and nothing else`() async throws {
    let orders: [BehaviorOrder] = [
      .first, .observation, .deadline, .request, .coalescing, .persistence, .caching, .gate, .retry, .hedging,
      .middle, .circuitBreaker, .rateLimit, .signing, .verification, .last, .outside(.retry),
    ]
    let prerequisite = Prerequisite()
    let listed = orders.map { ClosureBehavior($0.description, order: $0) as any RequestBehavior }
    let client = NetworkClient(ClosureTransport(), listed + [prerequisite, EmptyBehavior(order: .last)])
    try await client.send(.get("x").with(ClosureBehavior("own", order: .last)))
    #expect(
      prerequisite.pipeline.value == [
        "observation", "deadline", "request", "retry", "hedging", "RedirectsBehavior", "circuitBreaker", "rateLimit",
        "verification", "last",
      ])
  }

  @Test func `a prerequisite request is a call of its own that knows its parent`() async throws {
    let prerequisite = Prerequisite()
    let transport = ClosureTransport()
    try await NetworkClient(transport, [prerequisite]).send(.get("x"))
    let parents = prerequisite.parents.value
    #expect(parents.count == 2)
    #expect(parents[0] == parents[1])
    #expect(transport.sent.map(\.url.lastPathComponent) == ["token", "x"])
    #expect(transport.sent.map(\.sendNumber) == [1, 1])
  }

  @Test func `a built-in behavior that the user replaced stays replaced`() async throws {
    let prerequisite = Prerequisite()
    let client = NetworkClient(ClosureTransport(), [prerequisite, RedirectsBehavior()])
    try await client.send(.get("x"))
    #expect(prerequisite.pipeline.value == ["RedirectsBehavior"])
  }
}
