import Foundation

/// The query of a request, or the fields of a form: names and values in order.
///
/// In a dictionary literal, a `nil` value is left out and an array repeats its name. The order and repeated names are
/// kept.
///
/// ```swift
/// let query: Query = [
///   "state": "open", "page": page, "label": ["bug", "linux"],
/// ]
/// let issues: [Issue] = try await client.send(
///   .get("issues", query: query))
/// ```
///
/// Every octet of names and values that is not unreserved (RFC 3986 §2.3) is percent-encoded; a space becomes `%20`.
public struct Query: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One name and value, not escaped.
  public struct Item: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates an item.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The names that an encoded value's nested properties and the elements of its arrays get.
  ///
  /// No standard defines them; choose the form that the server reads. The brackets are percent-encoded.
  public enum Nesting: Sendable, Hashable {
    /// A property that is nested is an error, and an array repeats its name: `a=1&a=2`.
    case refused
    /// `a[b]` for a property and `a[0]` for an element, as PHP, Stripe and the package `qs` of Node.js read them.
    case indexed
    /// `a[b]` for a property and `a[]` for an element, as Rack and Rails read them.
    case unindexed
  }

  /// The names and values in their order.
  public var items: [Item]

  /// Creates a query of items.
  public init(_ items: [Item] = []) { self.items = items }

  /// Creates a query from a dictionary, sorted by name, because a dictionary has no order.
  public init(_ values: [String: String]) {
    items = values.sorted { $0.key < $1.key }.map { Item($0.key, $0.value) }
  }

  /// Creates a query from a literal.
  public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
    items = []
    items.reserveCapacity(elements.count)
    for (name, value) in elements {
      guard let value else { continue }
      for text in value.queryValues { items.append(Item(name, text)) }
    }
  }

  /// Creates a query from the properties of a value, in the order in which it encodes them.
  ///
  /// ```swift
  /// let form = try Query(encoding: charge, nesting: .indexed)
  /// try await client.send(.post("charges", body: .form(form)))
  /// // amount=5&card[name]=Ada&items[0][id]=7
  /// ```
  ///
  /// A `nil` and an empty array have no item. The members of a dictionary are sorted by their names.
  ///
  /// - Parameters:
  ///   - value: A value whose properties are strings, numbers, booleans, dates (as ISO 8601), URLs, UUIDs, raw-value
  ///     enumerations, optionals and arrays of these. With a nesting they may have properties of their own.
  ///   - nesting: The names of nested properties; by default such a property is an error.
  /// - Throws: `EncodingError` if a property is nested deeper than the nesting allows, or if the value has no
  ///   properties.
  public init(encoding value: some Encodable, nesting: Nesting = .refused) throws {
    items = try QueryEncoder.encode(value, nesting)
  }

  /// Returns the value of the first item with a name; `nil` if no item has it.
  public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// Appends an item.
  public mutating func append(_ name: String, _ value: String) { items.append(Item(name, value)) }

  /// The query percent-encoded, without `?`; empty if there are no items.
  public var percentEncoded: String {
    var text = ""
    for (index, item) in items.enumerated() {
      if index > 0 { text += "&" }
      text += PercentEncoding.escape(item.name)
      text += "="
      text += PercentEncoding.escape(item.value)
    }
    return text
  }

  /// Returns a percent-encoded query without the items of a name; `nil` if no item remains.
  static func removing(_ name: String, from query: String) -> String? {
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { item in
      let itemName = item.prefix { $0 != "=" }
      return itemName.removingPercentEncoding != name && itemName != name
    }
    return kept.isEmpty ? nil : kept.joined(separator: "&")
  }
}
