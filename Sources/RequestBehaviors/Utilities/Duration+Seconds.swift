extension Duration {
  /// The duration in seconds.
  package var inSeconds: Double {
    let (seconds, attoseconds) = boundedComponents
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// The components of the duration, or of the longest duration that has some.
  package var boundedComponents: (seconds: Int64, attoseconds: Int64) {
    min(max(self, .seconds(Int64.min)), .seconds(Int64.max)).components
  }

  /// The sum, or the longest duration that has components: a sum of long ones may be one that no duration holds.
  package func boundedSum(with other: Duration) -> Duration {
    let longest = Duration.seconds(Int64.max)
    return min(min(self, longest) + min(other, longest), longest)
  }

  /// Creates a duration of so many seconds, at most 100 years: servers and clocks may give any number.
  package init(clamping seconds: Double) {
    let limit = 100 * 366 * 86_400.0
    self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -limit), limit))
  }

  /// The duration in seconds with at most three decimal places, such as `1.25 s`.
  package var inWords: String {
    let milliseconds = (inSeconds * 1_000).rounded()
    guard abs(milliseconds) < 1e15 else { return "\(boundedComponents.seconds) s" }
    let (whole, rest) = Int64(milliseconds).quotientAndRemainder(dividingBy: 1_000)
    guard rest != 0 else { return "\(whole) s" }
    var digits = String(String(1_000 + abs(rest)).dropFirst())
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(milliseconds < 0 && whole == 0 ? "-" : "")\(whole).\(digits) s"
  }
}
