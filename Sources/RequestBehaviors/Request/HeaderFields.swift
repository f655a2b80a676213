/// Header fields: ordered, with case-insensitive names, several values per name, and a mark on those that are secret.
///
/// ```swift
/// var headers: HeaderFields = ["Accept": "application/json"]
/// print(headers["accept"] ?? "none")  // application/json
/// headers.append("Prefer", "return=minimal")
/// // Hidden in logs, and sent to the base URL's origin only.
/// headers.set("X-API-Key", key, sensitive: .baseURL)
/// ```
///
/// A field that is marked sensitive is redacted in logs, errors and printed commands. It is removed on the way to an
/// origin that its mark does not include. A key of a stored or shared response has a digest of it, never its value. A
/// name that means a credential counts as a mark. Such names are ``Redactor/defaultSensitiveFields``, for example
/// `Authorization`, `Cookie`, `X-API-Key` or `X-Auth-Token`. Such a field of a request is for the request's origin; one
/// that a behavior sets is for the base URL's. To send it elsewhere, mark it so; ``OriginScope/any`` allows every
/// origin.
///
/// Names and values are checked against RFC 9110 §5.1 and §5.5 when a request is sent, not here; an illegal one is a
/// ``NetworkError/Code-swift.struct/invalidRequest`` that names the field.
public struct HeaderFields: Sendable, Hashable {
  /// One header field.
  public struct Field: Sendable, Hashable {
    /// The name as it was written; compare it by ``isNamed(_:)``.
    public let name: String
    /// The value.
    public var value: String
    /// The origins that may receive the value if it is a secret; `nil` if it is not a secret.
    public var sensitivity: OriginScope?

    /// Whether the value is a secret.
    public var isSensitive: Bool { sensitivity != nil }

    /// Creates a field.
    public init(_ name: String, _ value: String, sensitive scope: OriginScope? = nil) {
      self.name = name
      self.value = value
      self.sensitivity = scope
    }
  }

  private var fields: [Field]

  /// Creates an empty list.
  public init() { fields = [] }

  /// Creates a list of the fields in their order; repeated names stay separate values.
  public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }

  /// Creates a list from a dictionary, sorted by name, because a dictionary has no order.
  public init(_ values: [String: String]) {
    fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
  }

  /// The value of a field; several values are joined by `", "` (RFC 9110 §5.3).
  ///
  /// It is `nil` if there is no such field.
  ///
  /// Setting it replaces all values of the name at the position of the first; setting `nil` removes them. A value set
  /// this way is not sensitive unless the field that it replaces was.
  public subscript(name: String) -> String? {
    get {
      guard let first = firstIndex(of: name) else { return nil }
      var joined = fields[first].value
      for field in fields[(first + 1)...] where HeaderFields.areEqual(field.name, name) {
        joined += ", " + field.value
      }
      return joined
    }
    set {
      guard let newValue else { return remove(name) }
      let scope = firstIndex(of: name).flatMap { fields[$0].sensitivity }
      set(Field(name, newValue, sensitive: scope))
    }
  }

  /// All values of a name in their order.
  public func values(for name: String) -> [String] {
    fields.filter { HeaderFields.areEqual($0.name, name) }.map(\.value)
  }

  /// The first field of a name, with its mark.
  public func field(named name: String) -> Field? { firstIndex(of: name).map { fields[$0] } }

  /// Whether there is a field of the name.
  public func contains(_ name: String) -> Bool { firstIndex(of: name) != nil }

  /// Sets a field, replacing all of its name.
  ///
  /// - Parameters:
  ///   - name: The field's name.
  ///   - value: The only value it has afterwards.
  ///   - scope: For a secret, the origins that may receive it; by default the value is not a secret.
  public mutating func set(_ name: String, _ value: String, sensitive scope: OriginScope? = nil) {
    set(Field(name, value, sensitive: scope))
  }

  /// Sets a field, replacing all of its name.
  public mutating func set(_ field: Field) {
    guard let first = firstIndex(of: field.name) else { return fields.append(field) }
    fields[first] = field
    let next = first + 1
    guard next < fields.count else { return }
    fields[next...].removeAll { HeaderFields.areEqual($0.name, field.name) }
  }

  /// Adds a value to the existing ones of the name.
  ///
  /// - Parameters:
  ///   - name: The field's name.
  ///   - value: The value to add.
  ///   - scope: For a secret, the origins that may receive it; by default the value is not a secret.
  public mutating func append(_ name: String, _ value: String, sensitive scope: OriginScope? = nil) {
    fields.append(Field(name, value, sensitive: scope))
  }

  /// Removes all fields of a name.
  public mutating func remove(_ name: String) {
    fields.removeAll { HeaderFields.areEqual($0.name, name) }
  }

  /// Removes the fields for which the closure returns true.
  public mutating func removeAll(where shouldRemove: (Field) throws -> Bool) rethrows {
    try fields.removeAll(where: shouldRemove)
  }

  /// Marks fields as secrets.
  ///
  /// - Parameters:
  ///   - scope: The origins that may receive the values.
  ///   - shouldMark: Whether a field is to be marked.
  mutating func mark(as scope: OriginScope, where shouldMark: (Field) -> Bool) {
    // Avoids copying the list if there is no field to mark.
    guard fields.contains(where: shouldMark) else { return }
    for index in fields.indices where shouldMark(fields[index]) { fields[index].sensitivity = scope }
  }

  /// Returns the list without white space around values, because it is not part of them (RFC 9110 §5.5).
  func withoutOuterSpace() -> HeaderFields {
    var trimmed = self
    for index in fields.indices where HTTPSyntax.hasOuterSpace(fields[index].value) {
      trimmed.fields[index].value = HTTPSyntax.withoutOuterSpace(fields[index].value)
    }
    return trimmed
  }

  /// Whether two lists share their storage, as unchanged copies do; then they are equal.
  func isIdentical(to other: HeaderFields) -> Bool {
    fields.withUnsafeBufferPointer { own in
      other.fields.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
    }
  }

  /// Replaces fields by those of the same name in another list, and appends the other fields of that list.
  public mutating func merge(_ other: HeaderFields) {
    if fields.isEmpty {
      fields = other.fields
      return
    }
    if other.fields.count == 1 { return set(other.fields[0]) }
    // The first field of each name replaces; further ones of that name are further values.
    for (index, field) in other.fields.enumerated() {
      let repeats = other.fields[..<index].contains { HeaderFields.areEqual($0.name, field.name) }
      if repeats { fields.append(field) } else { set(field) }
    }
  }

  /// Whether two field names are equal, regardless of ASCII case (RFC 9110 §5.1).
  public static func areEqual(_ name: String, _ other: String) -> Bool {
    // Most equal names have the same spelling, and most different names differ in length.
    guard name.utf8.count == other.utf8.count else { return false }
    if name == other { return true }
    var octets = other.utf8.makeIterator()
    for octet in name.utf8 where octets.next().map(lowercased) != lowercased(octet) { return false }
    return true
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  private func firstIndex(of name: String) -> Int? {
    fields.firstIndex { HeaderFields.areEqual($0.name, name) }
  }

  /// Whether two lists have the same names (regardless of case), values and marks in the same order.
  public static func == (left: HeaderFields, right: HeaderFields) -> Bool {
    left.fields.count == right.fields.count
      && zip(left.fields, right.fields).allSatisfy {
        areEqual($0.name, $1.name) && $0.value == $1.value && $0.sensitivity == $1.sensitivity
      }
  }

  /// Feeds the names in lower case and the values into the hasher.
  public func hash(into hasher: inout Hasher) {
    for field in fields {
      hasher.combine(field.name.lowercased())
      hasher.combine(field.value)
    }
  }
}

extension HeaderFields: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { fields.startIndex }
  /// The position after the last field.
  public var endIndex: Int { fields.endIndex }
  /// The field at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
  /// Creates a list from a literal in its order; a repeated name has several values.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0.0, $0.1) }
  }
}

extension HeaderFields: CustomStringConvertible {
  /// The fields, one per line.
  ///
  /// The value is hidden unless the standard ``Redactor`` knows it to be harmless.
  public var description: String { fields.map(\.description).joined(separator: "\n") }
}
