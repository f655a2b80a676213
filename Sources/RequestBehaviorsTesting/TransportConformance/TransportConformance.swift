import Foundation
public import RequestBehaviors

/// The rules for every transport, as a list of cases that a test of any framework runs.
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
/// Each case has its own ``LoopbackServer``, ``ManualClock`` and transport, and sends over 127.0.0.1 only. It is given
/// up if it does not end in time, so that a transport which hangs fails instead of hanging the test. In a framework
/// whose tests take arguments, each of ``cases`` can be a test of its own.
public enum TransportConformance {
  /// Makes the transport to check.
  ///
  /// It gets the clock that `idleTimeout` and `timeout` must follow. For a transport that cannot take a clock, exclude
  /// the cases whose names begin with "a timeout"; for one without streams, those that begin with "a streamed body".
  public typealias Factory = @Sendable (RequestClock) async throws -> any Transport

  /// The cases, in the order in which they are run.
  public static let cases: [Case] =
    requests + refusals + responses + streams + limits + endings + failures + progress

  /// Runs the cases, one after the other.
  ///
  /// - Parameters:
  ///   - exclusions: The names of the cases that are not run, each with the reason. A name without a case is a failure.
  ///   - limit: The longest time of a case, in real time; 20 seconds by default.
  ///   - makeTransport: Makes the transport of a case.
  /// - Returns: The result of each case.
  public static func run(
    excluding exclusions: [String: String] = [:], within limit: Duration = .seconds(20),
    _ makeTransport: @escaping Factory
  ) async -> Report {
    await Report.run(cases.map(\.name), excluding: exclusions) { index in
      try await cases[index].run(within: limit, makeTransport)
    }
  }
}

extension TransportConformance {
  /// A rule that a transport must follow.
  public struct Case: Sendable, CustomStringConvertible {
    /// The rule, such as "redirects are returned".
    ///
    /// It is also the name of the case in exclusions.
    public let name: String
    private let check: @Sendable (ConformanceBench) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (ConformanceBench) async throws -> Void) {
      self.name = name
      self.check = check
    }

    /// The name.
    public var description: String { name }

    /// Checks a transport.
    ///
    /// - Parameters:
    ///   - limit: The longest time of the case, in real time; 20 seconds by default.
    ///   - makeTransport: Makes the transport.
    /// - Throws: ``Failure`` that names the broken rule; the transport's own error if it throws where it must not.
    public func run(within limit: Duration = .seconds(20), _ makeTransport: @escaping Factory) async throws {
      try await ConformanceFailure.within(limit) {
        let bench = try await ConformanceBench(makeTransport)
        defer { bench.server.stop() }
        do {
          try await check(bench)
        } catch {
          await bench.transport.shutdown()
          throw error
        }
        await bench.transport.shutdown()
      }
    }
  }

  /// A rule that a transport broke.
  public typealias Failure = ConformanceFailure

  /// The results of the cases.
  public typealias Report = ConformanceReport
}
