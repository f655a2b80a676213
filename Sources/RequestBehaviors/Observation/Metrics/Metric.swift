/// A metric: its name, its unit, and its kind.
public struct Metric: Sendable, Hashable {
  /// The way in which the values of a metric are combined.
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
  /// The way in which the values are combined.
  public let kind: Kind
  /// The suitable bucket boundaries of a histogram; empty if the recorder's defaults are suitable.
  public let buckets: [Double]

  /// Creates a metric.
  public init(_ name: String, unit: String, kind: Kind, buckets: [Double] = []) {
    self.name = name
    self.unit = unit
    self.kind = kind
    self.buckets = buckets
  }
}

/// A name and a value that identify a series of a metric.
public struct MetricAttribute: Sendable, Hashable {
  /// The value of an attribute.
  public enum Value: Sendable, Hashable {
    /// A text from a small set, never a secret.
    case string(String)
    /// A number.
    case int(Int)
    /// A truth value.
    case bool(Bool)
  }

  /// The name, such as `http.request.method`.
  public let name: String
  /// The value.
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
