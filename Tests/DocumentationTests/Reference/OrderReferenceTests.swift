import RequestBehaviors
import Testing

/// The samples of the rules about the order of behaviors.
@Suite(.limited) struct OrderReferenceTests {
  struct StampBehavior: RequestBehavior {
    let order = BehaviorOrder.signing

    func warnings(in pipeline: Pipeline) -> [String] {
      pipeline.misplacements(
        of: StampBehavior.self, inside: RetryBehavior.self,
        consequence: "so a further attempt carries the old stamp")
    }
  }

  private func warnings(_ behavior: any RequestBehavior) throws -> [String] {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.retry(), behavior])
    return try client.pipeline(for: Request<Void>.get("a")).warnings
  }

  @Test func `a behavior warns if it is further out than it belongs`() throws {
    #expect(try warnings(StampBehavior().ordered(.first)).count == 1)
  }

  @Test func `a behavior in its place does not warn`() throws {
    #expect(try warnings(StampBehavior()).isEmpty)
  }
}
