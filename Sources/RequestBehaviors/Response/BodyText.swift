import Foundation

extension String {
  /// Creates the text of a body by the `charset` of its type (RFC 9110 §8.3.2).
  ///
  /// Without a charset, or with one that is not known, the text is read as UTF-8, and invalid sequences are replaced.
  /// If the bytes are not valid in the charset, all of them are read as UTF-8. So is JSON, which has no charset
  /// (RFC 8259 §11), although servers name one.
  ///
  /// - Parameters:
  ///   - body: The bytes.
  ///   - contentType: The `Content-Type` of the body.
  init(body: Data, contentType: String?) {
    for encoding in contentType.map(BodyText.encodings) ?? [] {
      guard let text = String(data: body, encoding: encoding) else { continue }
      self = text
      return
    }
    self = String(decoding: body, as: UTF8.self)
  }
}

private enum BodyText {
  /// Returns the encodings to try for the charset of a type before UTF-8.
  static func encodings(of contentType: String) -> [String.Encoding] {
    if MediaType(contentType)?.isJSON == true { return [] }
    for parameter in contentType.split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1).map { HTTPSyntax.withoutOuterSpace($0) }
      guard parts.count == 2, parts[0].lowercased() == "charset" else { continue }
      return known[parts[1].filter { $0 != "\"" }.lowercased()] ?? []
    }
    return []
  }

  /// The encodings that every platform's Foundation has, by their names (IANA, "Character Sets").
  private static let known: [String: [String.Encoding]] = [
    // Windows-1252 has signs where ISO 8859-1 has control characters, which no text has (WHATWG, "Encoding" §4.2).
    "iso-8859-1": [.windowsCP1252, .isoLatin1], "latin1": [.windowsCP1252, .isoLatin1],
    "windows-1252": [.windowsCP1252, .isoLatin1], "iso-8859-2": [.isoLatin2], "windows-1250": [.windowsCP1250],
    "windows-1251": [.windowsCP1251], "windows-1253": [.windowsCP1253], "windows-1254": [.windowsCP1254],
    "shift_jis": [.shiftJIS], "euc-jp": [.japaneseEUC], "iso-2022-jp": [.iso2022JP],
    "utf-16": [.utf16], "utf-16le": [.utf16LittleEndian], "utf-16be": [.utf16BigEndian],
    "utf-32": [.utf32], "utf-32le": [.utf32LittleEndian], "utf-32be": [.utf32BigEndian],
  ]
}
