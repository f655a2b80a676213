import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import TestLimits

/// The limit that each suite has.
@Suite(.limited) struct TestLimitTests {
  private let clock = ManualClock()
  private let run: TestRun

  init() { run = TestRun(places: 1, clock: clock.requestClock) }

  /// Runs a closure as a test with a limit of ten seconds; returns whether it exceeded that.
  private func perform(_ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
    let test = try #require(Test.current)
    let hasExceeded = Box(false)
    let limit = TestLimit(.seconds(10), in: run) { comment, place in
      hasExceeded.value = comment == "the test exceeded its limit of 10.0 seconds" && place == test.sourceLocation
    }
    try await limit.provideScope(for: test, testCase: nil, performing: body)
    return hasExceeded.value
  }

  private func waitForWaitingTest() async throws {
    let run = run
    #expect(try await eventually { run.waitingCount == 1 })
  }

  @Test func `a test that ends in time has no issue`() async throws {
    #expect(try await !perform {})
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a test that exceeds its limit fails and is cancelled`() async throws {
    let gate = TestGate()
    async let hasExceeded = perform { await gate.waitForArrivals(1) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    #expect(try await hasExceeded)
    #expect(run.stuckTests().isEmpty)
  }

  @Test func `a test that does not answer its cancellation gives its place to another one`() async throws {
    let gate = TestGate()
    async let hasExceeded = perform { await gate.pass() }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    #expect(try await !perform {})
    gate.open()
    #expect(try await hasExceeded)
    // The place exists once.
    let (first, second) = (TestGate(), TestGate())
    async let holds = perform { await first.pass() }
    await first.waitForArrivals(1)
    async let waits = perform { await second.pass() }
    try await waitForWaitingTest()
    #expect(second.arrivalCount == 0)
    first.open()
    second.open()
    #expect(try await !holds)
    #expect(try await !waits)
  }

  @Test func `a limit begins when the test has a place`() async throws {
    let (first, second) = (TestGate(), TestGate())
    async let holds = perform { await first.pass() }
    await first.waitForArrivals(1)
    await clock.waitForSleepers(1)
    async let waits = perform { await second.pass() }
    try await waitForWaitingTest()
    clock.advance(by: .seconds(9))
    first.open()
    #expect(try await !holds)
    await second.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(9))
    second.open()
    #expect(try await !waits)
  }

  @Test func `a test that is cancelled while it waits takes no place`() async throws {
    let gate = TestGate()
    async let holds = perform { await gate.pass() }
    await gate.waitForArrivals(1)
    let waits = Task { try await perform {} }
    try await waitForWaitingTest()
    waits.cancel()
    await #expect(throws: CancellationError.self) { try await waits.value }
    gate.open()
    #expect(try await !holds)
    #expect(try await !perform {})
  }

  @Test func `a run is stuck when none of its tests has ended some time after its limit`() async throws {
    let gate = TestGate()
    async let hangs = perform { await gate.pass() }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(25))
    #expect(run.stuckTests().isEmpty)
    clock.advance(by: .seconds(1))
    let name = try #require(Test.current).name
    #expect(run.stuckTests() == ["\(name) did not end within its limit of 10.0 seconds"])
    let other = TestGate()
    async let runs = perform { await other.pass() }
    await other.waitForArrivals(1)
    #expect(run.stuckTests().isEmpty)
    other.open()
    #expect(try await !runs)
    gate.open()
    #expect(try await hangs)
    #expect(run.stuckTests().isEmpty)
  }

  @Test func `each suite of the package has a limit`() throws {
    for (name, text) in try sources() {
      for suite in text.matches(of: /^ *@Suite(?<traits>\(\s*[.\w]+)?/.anchorsMatchLineEndings()) {
        #expect(
          suite.traits?.hasSuffix(".limited") == true, "write @Suite(.limited) in \(name)")
      }
    }
  }

  @Test func `no test has a limit that counts the time of other tests`() throws {
    for (name, text) in try sources() {
      #expect(!text.contains(".time" + "Limit("), "write .limited(to:) in \(name)")
    }
  }

  /// Returns the name and the text of each source file of the tests.
  private func sources() throws -> [(name: String, text: String)] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
  }
}
