/// What takes counters and durations: an adapter to a metrics system.
///
/// ```swift
/// struct PrintingMetrics: MetricsRecorder {
///   func add(
///     _ amount: Int, to counter: String, labels: [MetricLabel]
///   ) {
///     print(counter, amount, labels)
///   }
///
///   func record(
///     _ duration: Duration, in timer: String, labels: [MetricLabel]
///   ) {
///     print(timer, duration, labels)
///   }
/// }
/// ```
public protocol MetricsRecorder: Sendable {
  /// Adds to a counter.
  ///
  /// It is called on the path of the request, by many at once: it must not block.
  ///
  /// - Parameters:
  ///   - amount: How much to add.
  ///   - counter: The counter's name.
  ///   - labels: What tells its series apart, in a fixed order.
  func add(_ amount: Int, to counter: String, labels: [MetricLabel])

  /// Records a duration.
  ///
  /// It is called on the path of the request, by many at once: it must not block.
  ///
  /// - Parameters:
  ///   - duration: How long something took.
  ///   - timer: The timer's name.
  ///   - labels: What tells its series apart, in a fixed order.
  func record(_ duration: Duration, in timer: String, labels: [MetricLabel])
}

/// A name and a value that tell the series of a metric apart.
public struct MetricLabel: Sendable, Hashable {
  /// What is told apart, such as `endpoint`.
  public let name: String
  /// Which one it is, such as `GET users/{}`: one of few, and never a secret.
  public let value: String

  /// Creates a label.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension MetricLabel: CustomStringConvertible {
  /// Name and value, such as `outcome=2xx`.
  public var description: String { "\(name)=\(value)" }
}
