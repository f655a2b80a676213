public import RequestBehaviors

/// What any transport must do, as a list of cases that a test of any framework runs.
///
/// ```swift
/// let fatal = "it ends the process on Linux"
/// let report = await TransportConformance.run(
///   excluding: [
///     "trailers are read over": fatal,
///     "a head that ends too early is an error": fatal,
///     "a method in lower case arrives in lower case": "GET on Linux",
///   ]
/// ) { clock in
///   MyTransport(clock: clock)
/// }
/// #expect(report.failures.isEmpty, "\(report)")
/// ```
///
/// Each case has a ``LoopbackServer``, a ``ManualClock`` and a transport of its own, sends over 127.0.0.1 only, and is
/// given up if it is not over in time, so that a transport which hangs fails instead of hanging the test. With a
/// framework that has tests with arguments, each of ``cases`` can be a test of its own.
public enum TransportConformance {
  /// Makes the transport to check.
  ///
  /// It gets the clock that `idleTimeout` and `timeout` must follow. For a transport that cannot take a clock, exclude
  /// the cases whose names begin with "a timeout".
  public typealias Factory = @Sendable (RequestClock) async throws -> any Transport

  /// Every case, in the order in which they are run.
  public static let cases: [Case] = requests + refusals + responses + limits + endings + failures

  /// Runs the cases, one after the other.
  ///
  /// - Parameters:
  ///   - exclusions: The names of cases that are not to be run, each with the reason. A name that no case has is a
  ///     failure.
  ///   - limit: How long a case may take, in real time; 20 seconds by default.
  ///   - makeTransport: Makes the transport of a case.
  /// - Returns: How each case ended.
  public static func run(
    excluding exclusions: [String: String] = [:], within limit: Duration = .seconds(20),
    _ makeTransport: @escaping Factory
  ) async -> Report {
    var outcomes: [Report.Outcome] = []
    for item in cases {
      if let reason = exclusions[item.name] {
        outcomes.append(Report.Outcome(name: item.name, result: .excluded(reason)))
        continue
      }
      do {
        try await item.run(within: limit, makeTransport)
        outcomes.append(Report.Outcome(name: item.name, result: .passed))
      } catch {
        outcomes.append(Report.Outcome(name: item.name, result: .failed("\(error)")))
      }
    }
    let names = Set(cases.map(\.name))
    outcomes += exclusions.keys.filter { !names.contains($0) }.sorted().map {
      Report.Outcome(name: $0, result: .failed("it is excluded, but there is no such case"))
    }
    return Report(outcomes: outcomes)
  }
}
