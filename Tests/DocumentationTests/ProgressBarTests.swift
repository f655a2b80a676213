import RequestBehaviors
import Testing

// The bar is part of an executable, which makes nothing public.
@testable import QuickStart

@Suite(.limited) struct ProgressBarTests {
  private func line(
    _ received: Int64, of total: Int64?, after elapsed: Duration = .seconds(1), attempt: Int = 1,
    isFinished: Bool = false
  ) -> String {
    var state = TransferProgress.State()
    (state.attempt, state.received, state.expectedToReceive) = (attempt, received, total)
    state.isFinished = isFinished
    return ProgressBar(width: 10).line(for: state, after: elapsed)
  }

  @Test func `a download of known length has a bar, a percentage, a speed and a remaining time`() {
    #expect(line(0, of: 2_000_000, after: .zero) == "[          ]   0 %  0 B of 2.0 MB")
    let half = line(1_000_000, of: 2_000_000, after: .seconds(2))
    #expect(half == "[#####     ]  50 %  1.0 MB of 2.0 MB  500.0 kB/s  2 s left")
    let whole = line(2_000_000, of: 2_000_000, after: .seconds(4), isFinished: true)
    #expect(whole == "[##########] 100 %  2.0 MB of 2.0 MB  500.0 kB/s")
  }

  @Test func `a download of unknown length shows the number of bytes received`() {
    #expect(line(1_234, of: nil) == "1.2 kB  1.2 kB/s")
  }

  @Test func `a download that is longer than announced shows a full bar`() {
    #expect(line(30, of: 20).hasPrefix("[##########] 100 %"))
    #expect(line(0, of: 0).hasPrefix("[##########] 100 %"))
  }

  @Test func `a further attempt is shown as such`() {
    #expect(line(0, of: 10, attempt: 2).hasSuffix("attempt 2"))
  }

  @Test func `a remaining time of days is not shown`() {
    #expect(!line(1, of: .max).contains("left"))
  }

  @Test(arguments: [
    (Int64(999), "999 B"), (1_000, "1.0 kB"), (999_949, "999.9 kB"), (999_999, "1.0 MB"), (1_500_000_000, "1.5 GB"),
    (.max, "9223372.0 TB"),
  ])
  func `sizes are in powers of 1000`(bytes: Int64, text: String) {
    #expect(line(bytes, of: nil, after: .zero) == text)
  }
}
