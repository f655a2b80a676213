import RequestBehaviors
import Testing

@Suite(.limited) struct BackoffTests {
  @Test(arguments: [(1, 500), (2, 1_000), (3, 2_000), (6, 16_000), (7, 20_000), (1_000_000, 20_000)])
  func `the longest wait doubles with every retry up to the cap`(retry: Int, milliseconds: Int) {
    #expect(Backoff().delay(beforeRetry: retry, random: 1) == .milliseconds(milliseconds))
  }

  @Test func `full jitter spreads a wait from the floor to the longest`() {
    let backoff = Backoff()
    #expect(backoff.delay(beforeRetry: 3, random: 0) == .milliseconds(50))
    #expect(backoff.delay(beforeRetry: 3, random: 0.5) == .seconds(1))
    #expect(backoff.delay(beforeRetry: 3, random: 1) == .seconds(2))
  }

  @Test func `half jitter leaves half of a wait, no jitter all of it`() {
    var backoff = Backoff(jitter: .half)
    #expect(backoff.delay(beforeRetry: 2, random: 0) == .milliseconds(500))
    #expect(backoff.delay(beforeRetry: 2, random: 1) == .seconds(1))
    backoff.jitter = .none
    #expect(backoff.delay(beforeRetry: 2, random: 0) == .seconds(1))
  }

  @Test(arguments: [-1, 0, 1, 2, 40, Int.max], [-1.0, 0, 0.3, 1, 2, .nan, .infinity])
  func `a wait stays between floor and cap whatever retry and random number are`(retry: Int, random: Double) {
    for jitter in [Backoff.Jitter.full, .half, .none] {
      let delay = Backoff(factor: 1e300, jitter: jitter).delay(beforeRetry: min(retry, 50), random: random)
      #expect(delay >= .milliseconds(50))
      #expect(delay <= .seconds(20))
    }
  }

  @Test func `a factor below one does not shorten waits, and the floor takes precedence over the cap`() {
    let shrinking = Backoff(factor: 0.1, jitter: .none)
    #expect(shrinking.delay(beforeRetry: 5, random: 0) == .milliseconds(500))
    let contradictory = Backoff(cap: .seconds(1), floor: .seconds(3))
    #expect(contradictory.delay(beforeRetry: 5, random: 1) == .seconds(3))
  }
}
