import RequestBehaviors
public import Testing

/// Gives each test of a suite a place in the run, and ends the test when it takes too long.
///
/// The testing library starts all tests at once, so its own time limit measures what the other tests take. This limit
/// begins when the test has a place, of which there are few. A test that exceeds it fails by name and is cancelled. One
/// that does not answer its cancellation gives its place to another test, and ``TestRun`` ends the process when
/// nothing else runs.
public struct TestLimit: SuiteTrait, TestTrait, TestScoping {
  private let duration: Duration
  private let run: TestRun
  private let report: @Sendable (Comment, SourceLocation) -> Void

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - duration: How long a test may take once it has a place; a minute by default.
  ///   - run: What gives the places; by default that of the process.
  public init(_ duration: Duration = .seconds(60), in run: TestRun = .shared) {
    self.init(duration, in: run) { Issue.record($0, sourceLocation: $1) }
  }

  /// Creates a limit that tells something else than the testing library of tests that exceed it.
  init(_ duration: Duration, in run: TestRun, report: @escaping @Sendable (Comment, SourceLocation) -> Void) {
    (self.duration, self.run, self.report) = (duration, run, report)
  }

  /// Each test of a suite has its own limit.
  public var isRecursive: Bool { true }

  /// The place of the test; a test with a limit beside that of its suite has one.
  @TaskLocal private static var place: (run: TestRun, id: Int)?

  /// Runs a test as soon as there is a place.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if let place = TestLimit.place, place.run === run { return try await limit(place.id, test, function) }
    let id = try await run.begin(test.name, limit: duration)
    defer { run.end(id) }
    try await TestLimit.$place.withValue((run, id)) { try await limit(id, test, function) }
  }

  private func limit(_ id: Int, _ test: Test, _ function: @concurrent @Sendable () async throws -> Void) async throws {
    try await withoutActuallyEscaping(function) { function in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        defer { group.cancelAll() }
        group.addTask {
          try await function()
          return true
        }
        group.addTask { [duration, run] in
          try? await run.clock.sleep(for: duration)
          return Task.isCancelled
        }
        guard try await group.next() == false else { return }
        report("the test exceeded its limit of \(duration)", test.sourceLocation)
        run.giveUp(id)
      }
    }
  }
}
