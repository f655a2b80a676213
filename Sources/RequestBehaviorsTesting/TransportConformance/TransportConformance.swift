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
///
/// Most cases are for transports that connect to the server which the request names: if the first request does not
/// reach it, ``run(excluding:within:_:)`` ends with that failure. A transport that responds itself keeps the other
/// rules:
///
/// ```swift
/// let report = await TransportConformance.run(
///   excluding: TransportConformance.cases(
///     about: .connections, excludedBecause: "it responds itself")
/// ) { _ in
///   TableTransport(["/": "{}"])
/// }
/// #expect(report.failures.isEmpty, "\(report)")
/// ```
public enum TransportConformance {
  /// Makes the transport to check.
  ///
  /// It gets the clock that `idleTimeout` and `timeout` must follow. For a transport that cannot take a clock, exclude
  /// the cases about ``Subject/timeouts``; for one without streams, those about ``Subject/streams``.
  public typealias Factory = @Sendable (RequestClock) async throws -> any Transport

  /// The subject of a case.
  public enum Subject: Sendable, Hashable, CaseIterable {
    /// An illegal request, a cancelled task or a transport that was shut down: nothing is sent.
    case refusals
    /// All other cases: a request goes to a server, and its response comes back.
    case connections
    /// The cases about connections in which the body of a response is a stream.
    case streams
    /// The cases about connections in which a send ends by the clock of the transport.
    case timeouts
  }

  /// The cases, in the order in which they are run.
  public static let cases: [Case] =
    arrivals + requests + refusals + responses + streams + limits + endings + failures + progress

  /// Returns the cases about a subject with a reason to exclude them.
  ///
  /// - Parameters:
  ///   - subject: The subject.
  ///   - reason: The reason for which they do not run.
  /// - Returns: The reason, by the name of each case.
  public static func cases(about subject: Subject, excludedBecause reason: String) -> [String: String] {
    Dictionary(uniqueKeysWithValues: cases.filter { $0.subjects.contains(subject) }.map { ($0.name, reason) })
  }

  /// Runs the cases, one after the other.
  ///
  /// If the first one fails, because a request does not reach its server, the others are not run.
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
    await Report.run(cases.map(\.name), excluding: exclusions, needing: arrivals.map(\.name)) { index in
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
    /// The subjects of the rule.
    public let subjects: Set<Subject>
    private let check: @Sendable (ConformanceBench) async throws -> Void

    /// Creates a case about connections, unless it is about refusals.
    init(_ name: String, _ subjects: Subject..., check: @escaping @Sendable (ConformanceBench) async throws -> Void) {
      self.name = name
      self.subjects = subjects == [.refusals] ? [.refusals] : Set(subjects).union([.connections])
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
