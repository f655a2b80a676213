import RequestBehaviors
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct PipelineTests {
  private struct Named: UniqueBehavior {
    let name: String
    let tag: String
  }

  private struct Single: UniqueBehavior { let tag: String }

  private func names(_ behaviors: [any RequestBehavior], _ request: Request<Void> = .get("x")) throws -> [String] {
    try NetworkClient(ClosureTransport(), behaviors).pipeline(for: request).entries.map(\.name)
  }

  private func at(_ order: BehaviorOrder, _ name: String) -> ClosureBehavior { ClosureBehavior(name, order: order) }

  @Test func `the list is sorted by order, and equal orders by listing`() throws {
    let list = try names([
      at(.last, "last"), at(.middle, "b"), at(.first, "first"), at(.middle, "a"), at(.retry, "retry"),
    ])
    #expect(list == ["first", "retry", "b", "a", "RedirectsBehavior", "last"])
  }

  @Test func `the standard order is the documented one, outermost first`() {
    let orders: [BehaviorOrder] = [
      .first, .observation, .deadline, .request, .coalescing, .persistence, .caching, .gate, .retry, .hedging,
      .middle, .redirects, .authentication, .rateLimit, .circuitBreaker, .signing, .verification, .last,
    ]
    #expect(orders == orders.sorted())
    #expect(Set(orders).count == orders.count)
  }

  @Test func `a place outside of another is between it and the one before`() throws {
    let list = try names([
      at(.retry, "retry"), at(.gate, "gate"), at(.hedging, "hedging"),
      EmptyBehavior().ordered(.outside(.retry)), at(.first, "inner").ordered(.inside(.retry)),
    ])
    #expect(list == ["gate", "EmptyBehavior", "retry", "inner", "hedging", "RedirectsBehavior"])
  }

  @Test func `a leading-dot behavior can be given another place in a literal`() throws {
    let list = try names([NonceVerificationBehavior().ordered(.first), at(.middle, "middle")])
    #expect(list == ["NonceVerificationBehavior", "middle", "RedirectsBehavior"])
  }

  @Test func `a group is flattened and its members keep their orders`() throws {
    let group = BehaviorGroup(at(.last, "in"), BehaviorGroup(at(.first, "out")), at(.middle, "mid"))
    #expect(try names([at(.middle, "before"), group]) == ["out", "before", "mid", "RedirectsBehavior", "in"])
  }

  @Test func `the request's behavior replaces the configuration's of the same type`() throws {
    let client = NetworkClient(ClosureTransport(), [Single(tag: "configuration")])
    let entries = try client.pipeline(for: Request<Void>.get("x").with(Single(tag: "request"))).entries
    #expect(entries.compactMap { ($0.behavior as? Single)?.tag } == ["request"])
    #expect(entries.first { $0.behavior is Single }?.source == .request)
  }

  @Test func `the configuration's behavior replaces the built-in one`() throws {
    let client = NetworkClient(ClosureTransport(), [RedirectsBehavior()])
    let entries = try client.pipeline(for: Request<Void>.get("x")).entries
    #expect(entries.map(\.source) == [.configuration])
  }

  @Test func `behaviors of one type with different names can be in one list`() throws {
    let list = [Named(name: "app", tag: "1"), Named(name: "user", tag: "2")]
    #expect(try names(list) == ["Named \"app\"", "Named \"user\"", "RedirectsBehavior"])
    let client = NetworkClient(ClosureTransport(), list)
    let entries = try client.pipeline(for: Request<Void>.get("x").with(Named(name: "user", tag: "3"))).entries
    #expect(entries.compactMap { ($0.behavior as? Named)?.tag } == ["1", "3"])
  }

  @Test func `the same unique behavior twice in one list is an error that names it`() async throws {
    let client = NetworkClient(ClosureTransport(), [Named(name: "user", tag: "1"), Named(name: "user", tag: "2")])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .invalidBehavior)
    #expect(error?.message.contains("Named \"user\" is listed twice in the configuration's behaviors") == true)
    #expect(throws: NetworkError.self) { try client.pipeline(for: Request<Void>.get("x")) }
  }

  @Test func `observers in a group, and those of the request, hear of a call whose list is wrong`() async {
    let ended = Box<[String]>([])
    let group = BehaviorGroup([.onCallEnd { _ in ended.update { $0.append("group") } }], name: "observing")
    let client = NetworkClient(
      ClosureTransport(), [group, Named(name: "user", tag: "1"), Named(name: "user", tag: "2")])
    let request = Request<Void>.get("x").with(.onCallEnd { _ in ended.update { $0.append("request") } })
    await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(ended.value == ["group", "request"])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x").without(CallEndBehavior.self)) }
    #expect(ended.value == ["group", "request"])
  }

  @Test func `without removes a behavior wherever it is listed`() throws {
    let behaviors: [any RequestBehavior] = [Single(tag: "1"), Named(name: "a", tag: "1"), Named(name: "b", tag: "1")]
    let request = Request<Void>.get("x").without(RedirectsBehavior.self).without(Named.self)
    #expect(try names(behaviors, request) == ["Single"])
  }

  @Test func `the printed pipeline is a table of name, place and source`() throws {
    let client = NetworkClient(ClosureTransport(), [.nonceVerification(), at(.first, "outermost")])
    let pipeline = try client.pipeline(for: Request<Void>.get("x").with(EmptyBehavior()))
    #expect(
      "\(pipeline)" == """
        1. outermost                  first         configuration
        2. EmptyBehavior              middle        request
        3. RedirectsBehavior          redirects     built in
        4. NonceVerificationBehavior  verification  configuration
        """)
  }

  @Test func `reset reaches every behavior, those in groups too`() async {
    struct Resettable: RequestBehavior {
      let name: String
      let journal: Journal
      func reset() async { journal.note(name) }
    }
    let journal = Journal()
    let inner = BehaviorGroup(Resettable(name: "b", journal: journal).ordered(.last))
    await NetworkClient(ClosureTransport(), [inner, Resettable(name: "a", journal: journal)]).reset()
    #expect(journal.entries == ["a", "b"])
  }
}
