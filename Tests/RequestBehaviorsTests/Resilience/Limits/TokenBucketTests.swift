import RequestBehaviors
import TestSupport
import Testing

/// A bucket that an expectation can take from.
private final class Bucket {
  private var value: TokenBucket

  init(rate: Double, burst: Int) { value = TokenBucket(rate: rate, burst: burst) }

  func take(at now: Duration) -> Bool { value.take(at: now) }
  func delay(for count: Int, at now: Duration) -> Duration { value.delay(for: count, at: now) }
  func pause(until end: Duration, at now: Duration) { value.pause(until: end, at: now) }
}

@Suite(.limited) struct TokenBucketTests {
  @Test func `a bucket gives its burst at once and then the rate`() {
    let bucket = Bucket(rate: 2, burst: 3)
    #expect((0..<5).map { _ in bucket.take(at: .zero) } == [true, true, true, false, false])
    #expect(bucket.take(at: .milliseconds(499)) == false)
    #expect(bucket.take(at: .milliseconds(501)) == true)
    #expect(bucket.take(at: .milliseconds(502)) == false)
    #expect((0..<5).map { _ in bucket.take(at: .seconds(100)) } == [true, true, true, false, false])
  }

  @Test func `the delay grows with the number of waiting requests`() {
    let bucket = Bucket(rate: 2, burst: 1)
    #expect(bucket.take(at: .zero))
    for (count, milliseconds) in [(1, 500), (2, 1_000), (10, 5_000)] {
      let delay = bucket.delay(for: count, at: .zero)
      #expect(delay >= .milliseconds(milliseconds))
      #expect(delay < .milliseconds(milliseconds + 1))
    }
  }

  @Test func `a bucket gains no permit during a pause, and has one at its end`() {
    let bucket = Bucket(rate: 10, burst: 5)
    bucket.pause(until: .seconds(60), at: .zero)
    #expect(!bucket.take(at: .seconds(59)))
    #expect(bucket.delay(for: 1, at: .seconds(59)) == .seconds(1))
    #expect(bucket.take(at: .seconds(60)))
    #expect(!bucket.take(at: .seconds(60)))
  }

  @Test func `an infinite rate does not limit, except for pauses`() {
    let bucket = Bucket(rate: .infinity, burst: 1)
    for _ in 1...1_000 { #expect(bucket.take(at: .zero)) }
    #expect(bucket.delay(for: .max, at: .zero) == .zero)
    bucket.pause(until: .seconds(60), at: .zero)
    #expect(!bucket.take(at: .seconds(59)))
    #expect(bucket.delay(for: 7, at: .seconds(59)) == .seconds(1))
    for _ in 1...1_000 { #expect(bucket.take(at: .seconds(60))) }
  }

  @Test(arguments: [0, -1, .nan, 1e-300])
  func `an invalid rate does not trap`(rate: Double) {
    let bucket = Bucket(rate: rate, burst: -5)
    #expect(bucket.take(at: .zero))
    #expect(bucket.delay(for: .max, at: .zero) > .zero)
    #expect(!bucket.take(at: .seconds(-5)))
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `over random schedules no window has more than burst and rate allow`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let (rate, burst) = (Double.random(in: 0.5...20, using: &random), Int.random(in: 1...10, using: &random))
      let bucket = Bucket(rate: rate, burst: burst)
      var (now, taken) = (Duration.zero, [Duration]())
      for _ in 0..<1_000 {
        now += .milliseconds(Int.random(in: 0...300, using: &random))
        if bucket.take(at: now) { taken.append(now) }
      }
      let window = Duration.seconds(10)
      for (index, start) in taken.enumerated() {
        let count = taken[index...].prefix { $0 - start < window }.count
        #expect(Double(count) <= Double(burst) + 10 * rate + 1)
      }
    }
  }
}
