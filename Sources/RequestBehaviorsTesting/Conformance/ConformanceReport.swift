import RequestBehaviors

/// The results of the cases of ``TransportConformance`` or ``CacheStoreConformance``.
public struct ConformanceReport: Sendable, CustomStringConvertible {
  /// The result of one case.
  public struct Outcome: Sendable {
    /// The result of a case.
    public enum Result: Sendable, Hashable {
      /// The rule holds.
      case passed
      /// The rule does not hold; the text describes the failure.
      case failed(String)
      /// The case was not run, for the reason given.
      case excluded(String)
    }

    /// The name of the case.
    public let name: String
    /// The result.
    public let result: Result
  }

  /// The result of each case, in order.
  public let outcomes: [Outcome]

  /// The cases that failed.
  public var failures: [Outcome] { outcomes.filter { if case .failed = $0.result { true } else { false } } }

  /// The cases that were not run.
  public var exclusions: [Outcome] { outcomes.filter { if case .excluded = $0.result { true } else { false } } }

  /// The numbers of passed, failed and excluded cases, then a line for each failed or excluded case.
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

  /// Runs cases one after the other.
  ///
  /// - Parameters:
  ///   - names: The names of the cases.
  ///   - exclusions: The names of the cases that are not run, each with the reason. A name without a case is a failure.
  ///   - needed: The names of the cases without which the ones behind them are not run.
  ///   - run: Runs the case at an index.
  /// - Returns: The result of each case.
  static func run(
    _ names: [String], excluding exclusions: [String: String], needing needed: [String] = [],
    _ run: (Int) async throws -> Void
  ) async -> ConformanceReport {
    var outcomes: [Outcome] = []
    for (index, name) in names.enumerated() {
      if let reason = exclusions[name] {
        outcomes.append(Outcome(name: name, result: .excluded(reason)))
        continue
      }
      do {
        try await run(index)
        outcomes.append(Outcome(name: name, result: .passed))
      } catch {
        let isNeeded = needed.contains(name)
        outcomes.append(
          Outcome(name: name, result: .failed("\(error)\(isNeeded ? "; so the other cases were not run" : "")")))
        if isNeeded { break }
      }
    }
    // An exclusion of a case that does not exist hides a mistake.
    outcomes += exclusions.keys.filter { !names.contains($0) }.sorted().map {
      Outcome(name: $0, result: .failed("it is excluded, but there is no such case"))
    }
    return ConformanceReport(outcomes: outcomes)
  }
}

/// A rule of ``TransportConformance`` or ``CacheStoreConformance`` that was broken.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The found and the expected value.
  public let description: String

  init(_ description: String) { self.description = description }

  /// Runs a case, and gives it up if it does not end in time.
  static func within(_ limit: Duration, _ work: @escaping @Sendable () async throws -> Void) async throws {
    let pending = PendingResult<Void>()
    let watchdog = Task {
      guard (try? await RequestClock.system.sleep(for: limit)) != nil else { return }
      pending.end(.failure(ConformanceFailure("it was not over after \(limit)")))
    }
    defer { watchdog.cancel() }
    try await pending.run(work)
  }
}
