import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct PrerequisiteTests {
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

  @Test func `a prerequisite client omits the behaviors that would wait for the caller`() async throws {
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
        "observation", "deadline", "request", "outside retry", "retry", "hedging", "RedirectsBehavior",
        "rateLimit", "circuitBreaker", "verification", "last",
      ])
  }

  @Test func `a prerequisite request is a call of its own that knows its parent`() async throws {
    let prerequisite = Prerequisite()
    let transport = ClosureTransport()
    try await NetworkClient(transport, [prerequisite]).send(.get("x"))
    let parents = prerequisite.parents.value
    try #require(parents.count == 2)
    #expect(parents[0] == parents[1])
    #expect(transport.sent.map(\.url.lastPathComponent) == ["token", "x"])
    #expect(transport.sent.map(\.attemptNumber) == [1, 1])
  }

  @Test func `a built-in behavior that the user replaced stays replaced`() async throws {
    let prerequisite = Prerequisite()
    let client = NetworkClient(ClosureTransport(), [prerequisite, RedirectsBehavior()])
    try await client.send(.get("x"))
    #expect(prerequisite.pipeline.value == ["RedirectsBehavior"])
  }

  private final class Observer: CallObserver {
    let order = BehaviorOrder.observation
    let reports = Box<[Call.ID?]>([])

    func callEnded(_ report: CallReport) { reports.update { $0.append(report.call.parent) } }
  }

  @Test func `an observer around the caller is notified of the end of its prerequisite too`() async throws {
    let prerequisite = Prerequisite()
    let observer = Observer()
    try await NetworkClient(ClosureTransport(), [observer, prerequisite]).send(.get("x"))
    #expect(observer.reports.value == [prerequisite.parents.value[1], nil])
  }

  /// A user's own observer with state, which is unique.
  private final class Counting: UniqueBehavior {
    let order = BehaviorOrder.observation
    let sends = Box(0)
    let resets = Box(0)

    func beforeSend(_ request: NetworkRequest) async { sends.update { $0 += 1 } }

    func reset() async { resets.update { $0 += 1 } }
  }

  /// Sends a prerequisite that a closure makes.
  private func asking(
    _ send: @escaping @Sendable (NetworkClient) async throws -> Void
  ) -> ClosureBehavior {
    ClosureBehavior("asking", order: .authentication) { request, next in
      try await send(next.client())
      return try await next(request)
    }
  }

  @Test func `a behavior around the caller can be removed, replaced and reset on the prerequisite client`() async throws
  {
    let counting = Counting()
    let own = Counting()
    let asking = asking { client in
      try await client.send(.post("token").without(Counting.self))
      try await client.send(.post("token").with(own))
      try await client.send(.post("token"))
      await client.reset()
    }
    try await NetworkClient(ClosureTransport(), [counting, asking]).send(.get("x"))
    #expect(counting.sends.value == 2, "the caller's and the last prerequisite")
    #expect(own.sends.value == 1)
    #expect(counting.resets.value == 1)
  }

  @Test func `behaviors around a caller do not intercept the prerequisites of its prerequisites`()
    async throws
  {
    let journal = Journal()
    let held = JournalBehavior(name: "held", journal: journal, order: .observation)
    let asking = asking { client in
      let outer = ClosureBehavior("outer", order: .first) { request, next in
        try await next.client().send(.post("innermost"))
        return try await next(request)
      }
      try await client.with { $0.behaviors.append(outer) }.send(.post("token"))
    }
    let transport = ClosureTransport()
    try await NetworkClient(transport, [held, asking]).send(.get("x"))
    #expect(transport.sent.map(\.url.lastPathComponent) == ["innermost", "token", "x"])
    #expect(journal.count(of: "held.beforeSend") == 3)
    #expect(journal.count(of: "held.interceptBefore") == 1)
  }

  @Test func `a verification next to its place verifies prerequisites too`() async throws {
    let nonce = NonceVerificationBehavior()
    for order in [BehaviorOrder.inside(.verification), .outside(.verification), .verification] {
      let answers = Box<[NetworkError.Code]>([])
      let asking = asking { client in
        do {
          try await client.send(.post("token"))
        } catch let error as NetworkError {
          answers.update { $0.append(error.code) }
        }
      }
      let client = NetworkClient(ClosureTransport(), [asking, nonce.ordered(order)])
      await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
      #expect(answers.value == [.intercepted], "\(order)")
    }
  }

  @Test func `fields next to their place go with prerequisites too`() async throws {
    let transport = ClosureTransport()
    let fields = HeadersBehavior(["X-Client": "shop"]).ordered(.outside(.request))
    try await NetworkClient(transport, [fields, asking { try await $0.send(.post("token")) }]).send(.get("x"))
    #expect(transport.sent.map { $0.headers["X-Client"] } == ["shop", "shop"])
  }

  @Test func `a built-in that the configuration removed is in no list, but may be listed`() async throws {
    let transport = ClosureTransport { request in
      let status = request.url.lastPathComponent == "x" ? 302 : 200
      return NetworkResponse(request: request, statusCode: status, headers: ["Location": "b"])
    }
    let prerequisite = Prerequisite()
    let client = NetworkClient(transport, [prerequisite]).with { $0.removedBehaviors = [RedirectsBehavior.self] }
    let names = try client.pipeline(for: Request<Void>.get("x")).entries.map(\.name)
    #expect(names == ["Prerequisite"])
    let response: NetworkResponse = try await client.send(.get("x").with(\.acceptableStatuses, .all))
    #expect(response.statusCode == 302)
    #expect(transport.sent.count == 2)
    #expect(prerequisite.pipeline.value.isEmpty)
    let listed = try client.pipeline(for: Request<Void>.get("x").with(RedirectsBehavior()))
    #expect(listed.entries.map(\.name) == ["RedirectsBehavior", "Prerequisite"])
  }
}
