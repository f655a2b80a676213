import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// A clock that lets a time pass, one wait after the other.
@Suite(.limited) struct ManualClockRunningTests {
  @Test func `each sleeper wakes at its own moment, also one that sleeps again`() async throws {
    let clock = ManualClock()
    let waiting = Task {
      var times: [Duration] = []
      for _ in 0..<3 {
        try await clock.requestClock.sleep(for: .seconds(2))
        times.append(clock.now)
      }
      return times
    }
    await clock.run(for: .seconds(10))
    #expect(try await waiting.value == [.seconds(2), .seconds(4), .seconds(6)])
    #expect(clock.now == .seconds(10))
  }

  @Test func `a sleeper that is due later goes on sleeping`() async throws {
    let clock = ManualClock()
    let waiting = Task { try await clock.requestClock.sleep(for: .seconds(11)) }
    await clock.waitForSleepers(1)
    await clock.run(for: .seconds(10))
    #expect(clock.sleeperCount == 1)
    #expect(clock.advanceToNextWait())
    try await waiting.value
    #expect(clock.now == .seconds(11))
    #expect(!clock.advanceToNextWait())
  }
}
