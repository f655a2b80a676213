/// An item of a list with its parameters (RFC 9651 §3.1), such as `"default";r=50;t=30`.
struct StructuredItem {
  let value: String
  let parameters: [String: String]

  func number(_ key: String) -> Int? { parameters[key].flatMap { Int($0) } }

  /// Returns the items of a list; a member without a value is left out.
  static func list(_ text: String) -> [StructuredItem] {
    FieldList.members(of: text).compactMap { member in
      let parts = FieldList.members(of: member, separatedBy: UInt8(ascii: ";"))
      guard let value = parts.first.map(unquoted), !value.isEmpty else { return nil }
      var parameters: [String: String] = [:]
      for part in parts.dropFirst() {
        let pair = part.split(separator: "=", maxSplits: 1).map { HTTPSyntax.withoutOuterSpace($0) }
        if let key = pair.first { parameters[String(key)] = pair.count > 1 ? unquoted(pair[1]) : "" }
      }
      return StructuredItem(value: value, parameters: parameters)
    }
  }

  private static func unquoted(_ text: Substring) -> String { FieldList.unquoted(text) ?? String(text) }
}
