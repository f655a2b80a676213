/// A recorder of counters and histograms: an adapter to a metrics system.
///
/// ```swift
/// struct PrintingMetrics: MetricsRecorder {
///   func add(
///     _ amount: Int, to counter: Metric,
///     attributes: [MetricAttribute]
///   ) {
///     print(counter.name, amount, attributes)
///   }
///
///   func record(
///     _ value: Double, in histogram: Metric,
///     attributes: [MetricAttribute]
///   ) {
///     print(histogram.name, value, attributes)
///   }
/// }
/// ```
public protocol MetricsRecorder: Sendable {
  /// Adds to a counter.
  ///
  /// It is called concurrently, on the path of the request, and must not block.
  ///
  /// - Parameters:
  ///   - amount: The amount; negative only for a metric of kind ``Metric/Kind-swift.enum/upDownCounter``.
  ///   - counter: The counter.
  ///   - attributes: The attributes of the series, in a fixed order.
  func add(_ amount: Int, to counter: Metric, attributes: [MetricAttribute])

  /// Records a value.
  ///
  /// It is called concurrently, on the path of the request, and must not block.
  ///
  /// - Parameters:
  ///   - value: The value, in the histogram's unit.
  ///   - histogram: The histogram.
  ///   - attributes: The attributes of the series, in a fixed order.
  func record(_ value: Double, in histogram: Metric, attributes: [MetricAttribute])
}
