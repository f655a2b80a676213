/// What takes counters and histograms: an adapter to a metrics system.
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
  /// It is called on the path of the request, by many at once: it must not block.
  ///
  /// - Parameters:
  ///   - amount: How much to add; below zero only for one of kind ``Metric/Kind-swift.enum/upDownCounter``.
  ///   - counter: The counter.
  ///   - attributes: What tells its series apart, in a fixed order.
  func add(_ amount: Int, to counter: Metric, attributes: [MetricAttribute])

  /// Records a value.
  ///
  /// It is called on the path of the request, by many at once: it must not block.
  ///
  /// - Parameters:
  ///   - value: The value, in the histogram's unit.
  ///   - histogram: The histogram.
  ///   - attributes: What tells its series apart, in a fixed order.
  func record(_ value: Double, in histogram: Metric, attributes: [MetricAttribute])
}

/// What is measured: its name, its unit, and how it is counted.
public struct Metric: Sendable, Hashable {
  /// How values are put together.
  public enum Kind: Sendable, Hashable {
    /// A sum that only grows.
    case counter
    /// A sum that grows and shrinks.
    case upDownCounter
    /// The distribution of values.
    case histogram
  }

  /// The name, such as `http.client.request.duration`.
  public let name: String
  /// The unit by UCUM: `s` for seconds, `By` for bytes, `{request}` for a number of requests.
  public let unit: String
  /// How values are put together.
  public let kind: Kind
  /// The boundaries of a histogram's buckets that suit its values; empty where the recorder's own do.
  public let buckets: [Double]

  /// Creates a metric.
  public init(_ name: String, unit: String, kind: Kind, buckets: [Double] = []) {
    self.name = name
    self.unit = unit
    self.kind = kind
    self.buckets = buckets
  }
}

/// A name and a value that tell the series of a metric apart.
public struct MetricAttribute: Sendable, Hashable {
  /// The value of an attribute.
  public enum Value: Sendable, Hashable {
    /// A text, one of few, and never a secret.
    case string(String)
    /// A number.
    case int(Int)
    /// A truth value.
    case bool(Bool)
  }

  /// What is told apart, such as `http.request.method`.
  public let name: String
  /// Which one it is.
  public let value: Value

  /// Creates an attribute.
  public init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}

extension MetricAttribute: CustomStringConvertible {
  /// Name and value, such as `http.response.status_code=200`.
  public var description: String {
    switch value {
    case .string(let text): "\(name)=\(text)"
    case .int(let number): "\(name)=\(number)"
    case .bool(let flag): "\(name)=\(flag)"
    }
  }
}
