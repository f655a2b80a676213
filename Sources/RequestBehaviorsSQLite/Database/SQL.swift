/// SQL text with the values that are bound to it.
///
/// It is written as a string literal. Interpolated values become bound parameters, never text:
///
/// ```swift
/// try db.execute("UPDATE artwork SET title = \(title) WHERE id = \(id)")
/// ```
///
/// `\(identifier: name)` inserts a quoted name of a table or column, `\(list: ids)` a parenthesised list of parameters
/// for `IN`, and `\(sql: part)` another `SQL` with its values. Only ``init(verbatim:arguments:)`` inserts a text
/// unchanged.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
  /// The text, with `?` for each value.
  public private(set) var text: String

  /// The values, in the order of their parameters.
  public private(set) var arguments: [any SQLBindable]

  /// Creates SQL from a literal text, into which nothing can be interpolated, and the values for its `?` parameters.
  public init(_ text: StaticString, arguments: [any SQLBindable]) {
    self.init(verbatim: text.description, arguments: arguments)
  }

  /// Creates SQL from a text that the program has put together, and the values for its `?` parameters.
  ///
  /// The text is neither bound nor escaped. Never put values, or anything that comes from elsewhere, into it.
  public init(verbatim text: String, arguments: [any SQLBindable] = []) {
    self.text = text
    self.arguments = arguments
  }

  /// Creates SQL without parameters.
  public init(stringLiteral value: String) { self.init(verbatim: value) }

  /// Creates SQL from a literal with interpolated values.
  public init(stringInterpolation: Interpolation) {
    self.init(verbatim: stringInterpolation.text, arguments: stringInterpolation.arguments)
  }

  /// Collects the pieces of an interpolated literal.
  public struct Interpolation: StringInterpolationProtocol {
    var text = ""
    var arguments: [any SQLBindable] = []

    /// Creates an empty collection with room for the literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount)
      arguments.reserveCapacity(interpolationCount)
    }

    /// Appends SQL text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a parameter and its value.
    public mutating func appendInterpolation(_ value: some SQLBindable) {
      text += "?"
      arguments.append(value)
    }

    /// Appends a parameter and its value, or NULL.
    public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
      text += "?"
      arguments.append(value)
    }

    /// Appends a parameter and the raw value of an enum.
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
    where Value.RawValue: SQLBindable {
      appendInterpolation(value.rawValue)
    }

    /// Appends a quoted name of a table, column or index.
    public mutating func appendInterpolation(identifier: String) { text += SQL.quoted(identifier) }

    /// Appends a parenthesised list of parameters, for `IN`.
    public mutating func appendInterpolation(list: some Sequence<some SQLBindable>) {
      let values: [any SQLBindable] = list.map { $0 }
      text += "(" + repeatElement("?", count: values.count).joined(separator: ",") + ")"
      arguments += values
    }

    /// Appends other SQL with its values.
    public mutating func appendInterpolation(sql: SQL) {
      text += sql.text
      arguments += sql.arguments
    }
  }

  /// Returns a name as SQL writes it: in double quotes, with the quotes inside it doubled.
  static func quoted(_ identifier: String) -> String {
    // By scalars, as SQLite reads it: a quote and the mark after it are one character, which is not a quote.
    let parts = identifier.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false).map { String($0) }
    return "\"" + parts.joined(separator: "\"\"") + "\""
  }
}

extension SQL: CustomStringConvertible, CustomReflectable {
  /// The text without the values that are bound to it, which may be secrets.
  public var description: String { text }

  /// The text and the number of values.
  public var customMirror: Mirror {
    Mirror(self, children: ["text": text, "arguments": "\(arguments.count) values"])
  }
}
