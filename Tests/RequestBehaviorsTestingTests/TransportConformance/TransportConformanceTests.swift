import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct TransportConformanceTests {
  // A flaw and the cases that must find it. Those that find it by not ending get little time.
  static let flaws: [(BrokenTransport.Flaw, [String], Duration)] = [
    (.followsRedirects, ["redirects are returned"], .seconds(20)),
    (.ignoresLimits, ["a longer body is cut off"], .seconds(20)),
    (
      .ignoresCancellation,
      ["cancelling ends a send that waits for its response", "cancelling ends a send in the middle of its body"],
      .milliseconds(300)
    ),
    (
      .ignoresTimeouts, ["a timeout ends a send without a response", "a timeout ends a body that stops"],
      .milliseconds(300)
    ),
    (.repeatsFailures, ["a send that fails is not repeated"], .seconds(20)),
    (.caches, ["nothing is cached", "a body of bytes arrives with its length"], .seconds(20)),
    (.keepsCookies, ["no cookies are kept"], .seconds(20)),
    (
      .dropsBodies,
      ["a body of bytes arrives with its length", "a POST over a connection that went stale arrives whole or fails"],
      .seconds(20)
    ),
    (
      .lumpsErrors,
      [
        "an illegal method is refused", "a refused connection is an error of code cannotConnect",
        "a body that ends too early is an error of code truncatedBody", "a bad chunk is an error of code badResponse",
        "a connection lost before the response is an error of code connectionLost", "a longer body is cut off",
      ], .seconds(20)
    ),
    (
      .acceptsAnything,
      [
        "an illegal method is refused", "an illegal header name is refused", "an illegal header value is refused",
        "framing headers are refused", "a body without a meaning is refused",
        "a URL that is not plain http or https is refused", "a send after shutdown is refused",
        "contradicting lengths are an error of code badResponse",
        "a length that no number can hold is an error of code badResponse",
        "a transfer coding other than chunks is an error of code badResponse",
      ], .seconds(20)
    ),
    (.ignoresShutdown, ["shutdown ends what is in flight", "a send after shutdown is refused"], .milliseconds(300)),
    (.changesURLs, ["path and query arrive as they are, and no fragment"], .seconds(20)),
    (
      .losesResponseHeaders,
      ["header fields are returned, names in any case, several values too", "204, 304 and HEAD have no body"],
      .seconds(20)
    ),
    (.sendsInSeries, ["64 sends at once get each their response"], .milliseconds(300)),
  ]

  @Test(arguments: flaws) func `a flaw fails the cases that are about it`(
    _ flaw: BrokenTransport.Flaw, _ names: [String], within limit: Duration
  ) async throws {
    for name in names {
      let item = try #require(TransportConformance.cases.first { $0.name == name })
      await #expect(throws: TransportConformance.Failure.self, "\(flaw): \(name)") {
        try await item.run(within: limit) { BrokenTransport(flaw, clock: $0) }
      }
    }
  }

  @Test func `every flaw is tried`() {
    #expect(Set(Self.flaws.map(\.0)) == Set(BrokenTransport.Flaw.allCases))
  }

  @Test func `a report counts, and names failures and exclusions with their reasons`() async throws {
    struct NoTransport: Error {}
    var exclusions = Dictionary(uniqueKeysWithValues: TransportConformance.cases.map { ($0.name, "not today") })
    exclusions["methods arrive as they are"] = nil
    exclusions["no such case"] = "never"
    let report = await TransportConformance.run(excluding: exclusions) { _ in throw NoTransport() }
    #expect(report.outcomes.count == TransportConformance.cases.count + 1)
    #expect(report.exclusions.count == TransportConformance.cases.count - 1)
    #expect(report.failures.map(\.name) == ["methods arrive as they are", "no such case"])
    #expect(report.failures.first?.result == .failed("NoTransport()"))
    let lines = report.description.split(separator: "\n")
    #expect(lines.first == "0 passed, 2 failed, \(TransportConformance.cases.count - 1) excluded")
    #expect(lines.contains("  failed: no such case: it is excluded, but there is no such case"))
    #expect(lines.contains("  excluded: nothing is cached: not today"))
  }

  /// Responds to everything itself, with or without a look at the request.
  private struct DeafTransport: Transport {
    let isStrict: Bool

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      if isStrict { try request.validate() }
      throw NetworkError(.cannotConnect, "there is no network")
    }

    func shutdown() async {}
  }

  /// Returns no response, not even to a cancelled task.
  private final class SilentTransport: Transport {
    private let hanging = AsyncStream<Void>.makeStream()

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      await Task { [hanging] in for await _ in hanging.stream {} }.value
      throw CancellationError()
    }

    func shutdown() async { hanging.continuation.finish() }
  }

  @Test func `a run ends at once for a transport that does not connect`() async throws {
    let report = await TransportConformance.run { _ in DeafTransport(isStrict: true) }
    #expect(report.outcomes.map(\.name) == ["a request reaches the server that it names"])
    guard case .failed(let found)? = report.outcomes.first?.result else {
      Issue.record("it passed")
      return
    }
    #expect(
      found.hasPrefix("send(_:) threw cannotConnect: there is no network, and no request came to http://127.0.0.1"))
    #expect(
      found.hasSuffix(
        """
        ; for a transport that responds itself, exclude cases(about: .connections, excludedBecause: …); so the other \
        cases were not run
        """))
  }

  @Test func `a run ends for a transport that sends nothing and does not return`() async {
    let report = await TransportConformance.run(within: .milliseconds(300)) { _ in SilentTransport() }
    #expect(report.outcomes.count == 1)
    #expect(report.failures.count == 1)
  }

  @Test func `an exclusion of an unknown case is reported even if the run ends early`() async {
    let report = await TransportConformance.run(excluding: ["no such case": "never"]) { _ in
      DeafTransport(isStrict: true)
    }
    #expect(report.failures.map(\.name) == ["a request reaches the server that it names", "no such case"])
  }

  @Test func `the rules about refusals hold for a transport that does not connect`() async {
    let exclusions = TransportConformance.cases(about: .connections, excludedBecause: "there is no network")
    let lax = await TransportConformance.run(excluding: exclusions) { _ in DeafTransport(isStrict: false) }
    #expect(lax.failures.map(\.name).contains("framing headers are refused"))
    let strict = await TransportConformance.run(excluding: exclusions) { _ in DeafTransport(isStrict: true) }
    #expect(strict.failures.map(\.name) == ["a cancelled task sends nothing", "a send after shutdown is refused"])
  }

  @Test func `each case is about refusals or about connections`() {
    func names(_ subject: TransportConformance.Subject) -> Set<String> {
      Set(TransportConformance.cases(about: subject, excludedBecause: "not today").keys)
    }
    let all = Set(TransportConformance.cases.map(\.name))
    #expect(names(.refusals).union(names(.connections)) == all)
    #expect(names(.refusals).isDisjoint(with: names(.connections)))
    #expect(names(.streams).isSubset(of: names(.connections)))
    #expect(names(.timeouts).isSubset(of: names(.connections)))
    #expect(all.filter { $0.hasPrefix("a streamed body") }.isSubset(of: names(.streams)))
    #expect(names(.timeouts) == all.filter { $0.hasPrefix("a timeout") })
    #expect(names(.refusals).count == 8)
  }

  @Test func `the names of cases are unique`() {
    let names = TransportConformance.cases.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
