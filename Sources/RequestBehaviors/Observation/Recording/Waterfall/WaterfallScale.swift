/// The places of times on the lanes of a waterfall.
struct WaterfallScale {
  /// The time at the left edge.
  let start: Duration
  /// The length of all calls together.
  let length: Duration
  /// The time that the whole width shows: a little more, so that the text after the last bar has room.
  private let width: Double
  /// The time between two ticks.
  private let step: Double

  init(_ calls: [RecordedCall]) {
    let start = calls.map(\.startedAt).min() ?? .zero
    let ends = calls.map { call in
      max(call.lastTime, call.sends.map { max($0.startedAt, $0.endedAt ?? $0.startedAt) }.max() ?? call.startedAt)
    }
    self.start = start
    length = (ends.max() ?? start) - start
    let seconds = max(length.inSeconds, 1e-6)
    width = seconds * 1.1
    step = WaterfallScale.step(for: width)
  }

  /// Returns the distance of at most eight ticks: 1, 2 or 5 times a power of ten.
  private static func step(for width: Double) -> Double {
    var power = 1e-7
    while power < 1e12 {
      for factor in [1.0, 2.0, 5.0] where width / (power * factor) <= 8 { return power * factor }
      power *= 10
    }
    return width
  }

  /// The place of a time, as a share of 100; at the left edge for a time before it, such as that of a send that began
  /// before its call.
  func place(_ time: Duration) -> Double { max((time - start).inSeconds / width * 100, 0) }

  /// The width of a duration, as a share of 100.
  func share(_ duration: Duration) -> Double { duration.inSeconds / width * 100 }

  /// The distance of two ticks, as a share of 100.
  var stepShare: Double { step / width * 100 }

  /// The ticks with their places.
  var ticks: [(place: Double, text: String)] {
    (0...8).map { Double($0) }.filter { $0 * step < width * 0.96 }.map { index in
      (index * stepShare, index == 0 ? "0" : WaterfallText.duration(.microseconds(Int64(index * step * 1e6))))
    }
  }
}

extension RecordedCall {
  /// The end of the call; for one under way, the last time that is known.
  var lastTime: Duration {
    if let endedAt { return endedAt }
    let sends = sends.map { $0.endedAt ?? $0.chunks.last?.at ?? $0.startedAt }
    return max(startedAt, (sends + decisions.map { $0.at + ($0.duration ?? .zero) }).max() ?? startedAt)
  }
}
