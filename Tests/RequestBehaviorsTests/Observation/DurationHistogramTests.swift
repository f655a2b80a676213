import RequestBehaviors
import Testing

@Suite(.limited) struct DurationHistogramTests {
  @Test(arguments: [1, 17, 31, 32, 33, 63, 64, 65, 999, 12_345, 1_000_000, 59_999_999, 3_600_000_000] as [Int64])
  func `a percentile is never too low and at most one part in 32 too high`(microseconds: Int64) {
    var histogram = DurationHistogram()
    histogram.record(.microseconds(microseconds))
    histogram.record(.seconds(60_000))
    let answer = histogram.percentile(50)
    #expect(answer >= .microseconds(microseconds))
    #expect(answer <= .microseconds(microseconds + microseconds / 32))
  }

  @Test func `percentiles of a uniform distribution are where they belong`() {
    var histogram = DurationHistogram()
    for milliseconds in (1...1000).reversed() { histogram.record(.milliseconds(milliseconds)) }
    for percent in [50, 95, 99] {
      let exact = Duration.milliseconds(percent * 10)
      #expect(histogram.percentile(Double(percent)) >= exact)
      #expect(histogram.percentile(Double(percent)) <= exact * 1.04)
    }
    #expect(histogram.percentile(100) == .seconds(1))
    #expect(histogram.percentile(0) >= .milliseconds(1))
    #expect(histogram.mean == .microseconds(500_500))
    #expect(histogram.minimum == .milliseconds(1))
    #expect(histogram.count == 1000)
  }

  @Test func `an empty histogram returns zero`() {
    let histogram = DurationHistogram()
    #expect(histogram.percentile(99) == .zero)
    #expect(histogram.mean == .zero)
  }

  @Test func `a value outside the range counts at the nearer end`() {
    var histogram = DurationHistogram()
    histogram.record(.seconds(-1))
    histogram.record(.seconds(Int64.max))
    #expect(histogram.minimum == .zero)
    #expect(histogram.percentile(50) == .zero)
    #expect(histogram.maximum == .seconds(Int64.max))
    #expect(histogram.count == 2)
  }

  @Test func `a duration without components counts at the end of the range`() {
    var histogram = DurationHistogram()
    histogram.record(.seconds(Int64.max) * 2)
    #expect(histogram.percentile(50) >= .seconds(1_000_000))
    #expect(histogram.count == 1)
  }

  @Test func `a sum that no duration holds is the longest duration with components`() {
    var histogram = DurationHistogram()
    for _ in 0..<20 { histogram.record(.seconds(Int64.max) * 2) }
    #expect(histogram.total == .seconds(Int64.max))
    for _ in 0..<64 {
      let other = histogram
      histogram.merge(other)
    }
    #expect(histogram.total == .seconds(Int64.max))
    #expect(histogram.count == .max)
  }

  @Test(arguments: [Double.nan, -1, 101, .infinity])
  func `a percentage outside the range counts as the nearer end`(percent: Double) {
    var histogram = DurationHistogram()
    histogram.record(.seconds(2))
    #expect(histogram.percentile(percent) == .seconds(2))
  }

  @Test func `merging two histograms equals recording both`() {
    var both = DurationHistogram()
    var first = DurationHistogram()
    var second = DurationHistogram()
    for value in 1...50 { first.record(.microseconds(value * value)) }
    for value in 1...50 { second.record(.milliseconds(value)) }
    for value in 1...50 { both.record(.microseconds(value * value)) }
    for value in 1...50 { both.record(.milliseconds(value)) }
    first.merge(DurationHistogram())
    first.merge(second)
    #expect(first == both)
    var empty = DurationHistogram()
    empty.merge(both)
    #expect(empty == both)
  }
}
