import Foundation

/// An encoding in which text writes octets differently.
enum SecretEncoding: CaseIterable {
  case percent, json, xml
  /// Escapes of any of them, one after the other, as in a URL in JSON.
  case mixed

  /// The bytes that begin an escape in any of the encodings.
  static let leads = Array("%+\\&".utf8)

  /// Whether a byte begins an escape.
  func isLead(_ byte: UInt8) -> Bool {
    switch self {
    case .percent: byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
    case .json: byte == UInt8(ascii: "\\")
    case .xml: byte == UInt8(ascii: "&")
    case .mixed: SecretEncoding.leads.contains(byte)
    }
  }

  /// The encoding whose escape begins with a byte; `nil` if none does.
  private static func encoding(of lead: UInt8) -> SecretEncoding? {
    [.percent, .json, .xml].first { $0.isLead(lead) }
  }

  /// Returns the octets of the escape that begins at an index of a text, and its length; `nil` if none begins there.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - place: The index.
  ///   - plusIsSpace: Whether a plus is a space, as in a form, and not itself, as in a URL.
  /// - Returns: The octets and the length.
  func escape(
    in text: UnsafeBufferPointer<UInt8>, at place: Int, _ plusIsSpace: Bool
  ) -> (octets: [UInt8], length: Int)? {
    let byte = text[place]
    guard isLead(byte) else { return nil }
    let rest = text[place...]
    switch self {
    case .mixed: return SecretEncoding.encoding(of: byte)?.escape(in: text, at: place, plusIsSpace)
    case .percent where byte == UInt8(ascii: "+"): return plusIsSpace ? ([UInt8(ascii: " ")], 1) : nil
    case .percent:
      let digits = rest.dropFirst().prefix(2)
      guard digits.count == 2, digits.allSatisfy(\.isASCIIAlphanumeric),
        let octet = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      return ([octet], 3)
    case .json:
      // A pair of surrogates is twelve characters long; otherwise the first escape counts.
      for length in [12, 6, 2] where rest.count >= length {
        let escape = UnsafeBufferPointer(rebasing: rest.prefix(length))
        guard length == 2 || escape[1] == UInt8(ascii: "u") else { continue }
        let octets = JSONText.unescape(escape)
        if String(decoding: octets, as: UTF8.self).unicodeScalars.count == 1 { return (octets, length) }
      }
      return rest.dropFirst().first == UInt8(ascii: "'") ? ([UInt8(ascii: "'")], 2) : nil
    case .xml:
      guard let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
      let name = String(decoding: text[(place + 1)..<end], as: UTF8.self)
      return SecretEncoding.scalar(ofEntity: name).map { (Array(String($0).utf8), end + 1 - place) }
    }
  }

  /// Returns the character of an entity that every XML document knows, or of a number (XML 1.0 §4.1, §4.6).
  private static func scalar(ofEntity name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let isHexadecimal = name.dropFirst().first == "x"
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }
  }
}

/// A form of a secret value that is searched for.
struct SecretPattern {
  let bytes: [UInt8]
  /// The value that it is a form of.
  let value: String
  /// Whether it is more than a word: no field's name contains it, and hiding a part of it may leave the rest.
  var isPhrase = false
  /// The kind of the characters around it, if this is the base64 of a value within a longer text.
  var edges: Base64Edges?

  /// Whether the base64 characters before and after a value contain bits of it too.
  struct Base64Edges {
    let before: Bool
    let after: Bool
  }

  /// Returns the patterns of a value.
  static func patterns(of value: String) -> [SecretPattern] {
    let bytes = Array(value.utf8)
    let isPhrase = !bytes.allSatisfy { $0.isASCIIAlphanumeric || $0 >= 0x80 || "-_.+".utf8.contains($0) }
    var patterns = [SecretPattern(bytes: bytes, value: value, isPhrase: isPhrase)]
    if isPhrase {
      // JSON in JSON remains escaped when the outer escapes are read. Some writers escape the slash.
      var quoted: [UInt8] = []
      JSONText.appendQuoted(bytes, to: &quoted)
      let escaped = Array(quoted.dropFirst().dropLast())
      let slashed = escaped.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
      if escaped != bytes { patterns.append(SecretPattern(bytes: escaped, value: value, isPhrase: true)) }
      if slashed != escaped { patterns.append(SecretPattern(bytes: slashed, value: value, isPhrase: true)) }
    }
    for offset in 0..<3 { patterns += base64(of: value, after: offset) }
    return patterns
  }

  /// Returns the base64 characters, in both alphabets, that are the same whatever surrounds a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - offset: The number of octets that precede it in its group of three.
  /// - Returns: An empty list if the characters are so few that they could come from any text.
  private static func base64(of value: String, after offset: Int) -> [SecretPattern] {
    let bytes = Array(value.utf8)
    let text = Array(Data(repeatElement(0, count: offset) + bytes).base64EncodedString().utf8)
    let start = (offset * 8 + 5) / 6
    let end = (offset + bytes.count) * 8 / 6
    guard end - start >= 5 else { return [] }
    let edges = Base64Edges(before: offset > 0, after: (offset + bytes.count) % 3 > 0)
    let core = Array(text[start..<end])
    let replaced: [UInt8: UInt8] = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
    let urlSafe = core.map { replaced[$0] ?? $0 }
    return (core == urlSafe ? [core] : [core, urlSafe]).map { SecretPattern(bytes: $0, value: value, edges: edges) }
  }
}

extension UInt8 {
  /// A character of either alphabet of base64, or its padding.
  var isBase64: Bool { isASCIIAlphanumeric || "+/-_=".utf8.contains(self) }
}
