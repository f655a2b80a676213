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
/// Each case has a ``LoopbackServer``, a ``ManualClock`` and a transport of its own, sends over 127.0.0.1 only, and is
/// given up if it is not over in time, so that a transport which hangs fails instead of hanging the test. With a
/// framework that has tests with arguments, each of ``cases`` can be a test of its own.
public enum TransportConformance {
  /// Makes the transport to check.
  ///
  /// It gets the clock that `idleTimeout` and `timeout` must follow. For a transport that cannot take a clock, exclude
  /// the cases whose names begin with "a timeout"; for one without streams, those that begin with "a streamed body".
  public typealias Factory = @Sendable (RequestClock) async throws -> any Transport

  /// Every case, in the order in which they are run.
  public static let cases: [Case] =
    requests + refusals + responses + streams + limits + endings + failures + progress

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
    await Report.run(cases.map(\.name), excluding: exclusions) { index in
      try await cases[index].run(within: limit, makeTransport)
    }
  }
}

extension TransportConformance {
  /// One thing that a transport must do.
  public struct Case: Sendable, CustomStringConvertible {
    /// The rule, such as "redirects are returned"; names the case in exclusions.
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
    ///   - limit: How long it may take, in real time; 20 seconds by default.
    ///   - makeTransport: Makes the transport.
    /// - Throws: ``Failure`` that names the rule that was broken; an error of the transport's where it should not
    ///   throw.
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

  /// How the cases ended.
  public typealias Report = ConformanceReport
}
