/// An authentication scheme with its parameters, as in a challenge or in credentials (RFC 9110 §11.2).
package struct AuthenticationScheme: Sendable {
  package var name: String
  package var parameters: [(name: String, value: String)] = []

  /// The protection space (RFC 9110 §11.5); `nil` if there is no such parameter.
  package var realm: String? { parameters.first { $0.name.lowercased() == "realm" }?.value }

  /// The error code of a challenge (RFC 6750 §3.1); `nil` if there is no such parameter.
  package var error: String? { parameters.first { $0.name.lowercased() == "error" }?.value }

  /// Parses the value of a `WWW-Authenticate` or `Authorization` field.
  ///
  /// - Parameter field: One or more schemes; commas separate both the schemes and their parameters (RFC 9110 §11.6.1).
  /// - Returns: The schemes in their order. Parameters before the first scheme belong to a scheme without a name.
  package static func list(_ field: String) -> [AuthenticationScheme] {
    var schemes: [AuthenticationScheme] = []
    for item in FieldList.members(of: field, endsOpenQuotes: true) {
      let equals = item.firstIndex(of: "=")
      var words = item[..<(equals ?? item.endIndex)].split(whereSeparator: isSpace)
      // An item with two words before `=`, or without `=`, starts a scheme; any other is a parameter of the current
      // scheme.
      if equals == nil || words.count > 1 || schemes.isEmpty {
        let startsScheme = equals == nil || words.count > 1
        schemes.append(AuthenticationScheme(name: startsScheme && !words.isEmpty ? String(words.removeFirst()) : ""))
      }
      guard let equals, let name = words.last else { continue }
      let value = unquoted(item[item.index(after: equals)...])
      schemes[schemes.count - 1].parameters.append((name: String(name), value: value))
    }
    return schemes
  }

  /// Returns the value of a parameter: a token or a quoted-string (RFC 9110 §5.6.4).
  private static func unquoted(_ text: Substring) -> String {
    let value = text.drop(while: isSpace)
    guard value.first == "\"" else { return String(value.prefix { !isSpace($0) }) }
    var result = ""
    var isEscaped = false
    for character in value.dropFirst() {
      if isEscaped || (character != "\\" && character != "\"") {
        result.append(character)
        isEscaped = false
      } else if character == "\"" {
        break
      } else {
        isEscaped = true
      }
    }
    return result
  }

  private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
}
