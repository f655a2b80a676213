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
      let pending = PendingResult<Void>()
      let watchdog = Task {
        guard (try? await RequestClock.system.sleep(for: limit)) != nil else { return }
        pending.end(.failure(Failure("it was not over after \(limit)")))
      }
      defer { watchdog.cancel() }
      try await pending.run {
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
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What was found, and what was expected.
    public let description: String

    init(_ description: String) { self.description = description }
  }
}

extension TransportConformance {
  /// How the cases ended.
  public struct Report: Sendable, CustomStringConvertible {
    /// How one case ended.
    public struct Outcome: Sendable {
      /// How a case ends.
      public enum Result: Sendable, Hashable {
        /// The rule holds.
        case passed
        /// The rule does not hold; the text says what was found.
        case failed(String)
        /// It was not run, for the reason given.
        case excluded(String)
      }

      /// The name of the case.
      public let name: String
      /// How it ended.
      public let result: Result
    }

    /// How each case ended, in order.
    public let outcomes: [Outcome]

    /// The cases that failed.
    public var failures: [Outcome] { outcomes.filter { if case .failed = $0.result { true } else { false } } }

    /// The cases that were not run.
    public var exclusions: [Outcome] { outcomes.filter { if case .excluded = $0.result { true } else { false } } }

    /// How many cases ended in which way, then those that failed and those that were excluded, a line each.
    public var description: String {
      let (failures, exclusions) = (failures, exclusions)
      let passed = outcomes.count - failures.count - exclusions.count
      let head = "\(passed) passed, \(failures.count) failed, \(exclusions.count) excluded"
      let lines = (failures + exclusions).map { outcome in
        switch outcome.result {
        case .passed: "  passed: \(outcome.name)"
        case .failed(let found): "  failed: \(outcome.name): \(found)"
        case .excluded(let reason): "  excluded: \(outcome.name): \(reason)"
        }
      }
      return ([head] + lines).joined(separator: "\n")
    }
  }
}
