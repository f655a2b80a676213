public import RequestBehaviors

/// The request fields that selected a stored response: those that its `Vary` names (RFC 9111 §4.1).
///
/// Values are compared in a normal form. The lines of a field are one list, and white space around its members does not
/// matter. In `Accept-Language` and `Accept-Encoding` case and order do not matter either. A missing field is not the
/// same as an empty one. A field that holds a secret is left out: it is part of the ``CacheKey`` already, as a digest.
public struct CacheVariant: Sendable, Hashable, Codable {
  /// A field that selected a response.
  public struct Field: Sendable, Hashable, Codable {
    /// The name in lower case.
    public let name: String
    /// The value in its normal form; `nil` if the request had no such field.
    public let value: String?

    /// Creates a field, for a store that reads it back.
    public init(name: String, value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// The fields, sorted by name.
  public let fields: [Field]

  /// Creates a variant, for a store that reads it back.
  public init(fields: [Field]) { self.fields = fields }

  /// Reads the variant of a response; `nil` if `Vary` has a `*` or an invalid name, so that no later request can match.
  ///
  /// - Parameters:
  ///   - response: The header fields of the response.
  ///   - request: The header fields of the request.
  init?(of response: HeaderFields, to request: HeaderFields) {
    guard let value = response["Vary"] else {
      fields = []
      return
    }
    let names = Set(FieldList.members(of: value).map { $0.lowercased() })
    guard !names.contains("*"), names.allSatisfy(HTTPSyntax.isToken) else { return nil }
    fields = names.sorted().map { Field(name: $0, value: CacheVariant.value(of: $0, in: request)) }
  }

  /// Whether a response was selected only by fields that the request had at the cache.
  ///
  /// - Parameters:
  ///   - response: The header fields of the response.
  ///   - request: The header fields of the request at the cache.
  ///   - sent: The header fields of the request as it was sent; the ``CacheKey`` separates its secrets.
  /// - Returns: `false` if another field that `Vary` names was added or changed further in.
  static func isSeen(of response: HeaderFields, at request: HeaderFields, sent: HeaderFields) -> Bool {
    guard let value = response["Vary"] else { return true }
    return FieldList.members(of: value).allSatisfy { member in
      let name = String(member)
      guard sent[name] != request[name] else { return true }
      // A transport that keeps cookies shows an empty field: the value that it adds is unknown and in no key.
      return sent.field(named: name).map { $0.isSecret && !$0.value.isEmpty } == true
    }
  }

  /// Whether a request has the same values in all of the fields.
  public func matches(_ request: HeaderFields) -> Bool {
    fields.allSatisfy { $0.value == CacheVariant.value(of: $0.name, in: request) }
  }

  /// The normal form of a field's value.
  private static func value(of name: String, in request: HeaderFields) -> String? {
    guard let field = request.field(named: name), !field.isSecret,
      let value = request[name]
    else { return nil }
    let members = FieldList.members(of: value)
    guard name == "accept-language" || name == "accept-encoding" else { return members.joined(separator: ",") }
    // Weights express preferences, not the order (RFC 9110 §12.4.2), and these names are not case-sensitive.
    return members.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }.sorted().joined(separator: ",")
  }
}
