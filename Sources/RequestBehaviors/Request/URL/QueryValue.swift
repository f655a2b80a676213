/// A value that can be used in a ``Query`` literal.
///
/// An enumeration with a raw value of a conforming type gets the implementation by declaring the conformance:
///
/// ```swift
/// enum State: String, QueryValue { case open, closed }
/// ```
public protocol QueryValue {
  /// The texts of the value: one for a single value, one per element for an array.
  var queryValues: [String] { get }
}

extension QueryValue where Self: LosslessStringConvertible {
  /// The description.
  public var queryValues: [String] { [description] }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
  /// The texts of the raw value.
  public var queryValues: [String] { rawValue.queryValues }
}
