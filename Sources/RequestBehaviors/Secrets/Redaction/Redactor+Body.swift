public import Foundation

extension Redactor {
  /// Returns the beginning of a body as text, with sensitive fields hidden.
  ///
  /// JSON and form bodies lose the values of sensitive fields; other text is treated as ``redact(text:hiding:)`` does.
  /// A binary body is described: `<12 bytes of image/png>`. JSON that is not well-formed is shown up to the first
  /// error.
  ///
  /// - Parameters:
  ///   - body: The body, or the beginning that is known; it may be cut off anywhere.
  ///   - contentType: The value of its `Content-Type`; without it nothing is shown.
  ///   - limit: The largest number of bytes that are shown, without the remark that the rest is left out.
  /// - Returns: Text for reading.
  public func redact(body: Data, contentType: String?, limit: Int) -> String {
    redact(body: body, of: body.count, contentType: contentType, limit: limit)
  }

  /// Returns the beginning of a body of which only a part may be known, as ``redact(body:contentType:limit:)`` does.
  ///
  /// - Parameters:
  ///   - body: The beginning that is known; it may be cut off anywhere.
  ///   - count: The number of bytes of the whole body.
  ///   - contentType: The value of its `Content-Type`; without it nothing is shown.
  ///   - limit: The largest number of bytes that are shown, without the remark that the rest is left out.
  /// - Returns: Text for reading.
  public func redact(body: Data, of count: Int, contentType: String?, limit: Int) -> String {
    guard !body.isEmpty else { return "" }
    let limit = max(0, limit)
    let count = max(count, body.count)
    let type = BodyKind(contentType)
    let excerpt = body.prefix(limit)
    guard type != .other, let isText = excerpt.isTextExcerpt else {
      return "<\(count)\(Redactor.binaryRemark)\(BodyKind.mediaType(contentType))>"
    }
    guard isText else { return "<\(count)\(Redactor.binaryRemark)\(BodyKind.mediaType(contentType)), not UTF-8>" }
    let shown = redact(excerpt: excerpt, of: type, isCutOff: excerpt.count < count)
    guard count > excerpt.count || shown.count > limit else { return String(decoding: shown, as: UTF8.self) }
    let cut = shown.prefix(limit).withoutBrokenCharacter
    return String(decoding: cut, as: UTF8.self) + " <cut off, \(count)\(Redactor.cutOffRemark)"
  }

  /// Whether a shown body has a remark in place of bytes: it was cut off, or is no text.
  package static func hasRemark(_ shown: String) -> Bool {
    guard shown.hasSuffix(">") else { return false }
    if shown.hasSuffix(Redactor.cutOffRemark) { return true }
    return shown.hasPrefix("<") && shown.dropFirst().drop(while: \.isNumber).hasPrefix(Redactor.binaryRemark)
  }

  private static let cutOffRemark = " bytes in all>"
  private static let binaryRemark = " bytes of "

  private func redact(excerpt: Data, of kind: BodyKind, isCutOff: Bool) -> [UInt8] {
    hidingKnownSecrets(in: excerpt, isCutOff: isCutOff) { bytes in
      switch kind {
      case .json:
        var scanner = JSONRedaction(bytes: bytes, rules: rules)
        return scanner.run()
      case .form: return redactForm(bytes, isCutOff: isCutOff)
      case .text, .other:
        var scanner = TextRedaction(bytes: bytes, rules: rules, isCutOff: isCutOff)
        return scanner.run()
      }
    }
  }

  /// Redacts `name=value` pairs; names are compared after decoding.
  private func redactForm(_ bytes: UnsafeBufferPointer<UInt8>, isCutOff: Bool) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + 64)
    // The names `code` and `state` are secret only beside other names of a sign-in.
    let isSignIn = SignInNames.isSignIn(pairs: bytes)
    for (position, pair) in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
      if position > 0 { output.append(UInt8(ascii: "&")) }
      let equals = pair.firstIndex(of: UInt8(ascii: "="))
      let name = String(decoding: pair[..<(equals ?? pair.endIndex)], as: UTF8.self)
      // A pair without `=` has no name to judge by.
      guard let equals else {
        if !pair.isEmpty { output.append(contentsOf: RedactionRules.placeholder) }
        continue
      }
      let decoded = name.removingPercentEncoding ?? name
      let kind = SignInNames.ambiguous(decoded.utf8)
      // The other names may be behind the end of an excerpt.
      let mayBeOfSignIn =
        isSignIn || isCutOff && (pair.endIndex == bytes.endIndex || SignInNames.looksSecret(pair[(equals + 1)...]))
      let isHidden = isSensitive(field: decoded) || kind == .code || (kind == .state && mayBeOfSignIn)
      output.append(contentsOf: pair[...equals])
      if isHidden {
        output.append(contentsOf: RedactionRules.placeholder)
      } else {
        appendFormValue(pair[(equals + 1)...], isCutOff: isCutOff && pair.endIndex == bytes.endIndex, to: &output)
      }
    }
    return output
  }

  /// Appends a value, redacted as text.
  private func appendFormValue(
    _ value: Slice<UnsafeBufferPointer<UInt8>>, isCutOff: Bool, to output: inout [UInt8]
  ) {
    // The end of the body may have cut an escape, and a form may have a `%` that begins no escape. A `+` is a space, as
    // after the name of an authentication scheme.
    let decoded = PercentEncoding.decodedForm(String(decoding: value, as: UTF8.self))
    let shown = redactedByShape(decoded, isCutOff: isCutOff)
    output.append(contentsOf: shown == decoded ? Array(value) : Array(shown.utf8))
  }
}

extension Data {
  /// Whether this is UTF-8 without NUL, apart from a character that is cut off at the end; `nil` if it is empty.
  fileprivate var isTextExcerpt: Bool? {
    guard !isEmpty else { return nil }
    return withUnsafeBytes { raw in
      let bytes = raw.bindMemory(to: UInt8.self)
      if raw.index(of: 0, from: 0) != nil { return false }
      // Most text is ASCII, and combining the bytes by `or` is the fastest check.
      var seen: UInt8 = 0
      for index in bytes.indices { seen |= bytes[index] }
      return seen < 0x80 || String(bytes: bytes.withoutBrokenCharacter, encoding: .utf8) != nil
    }
  }
}

extension RandomAccessCollection<UInt8> {
  /// The bytes without a character at the end that lacks bytes.
  fileprivate var withoutBrokenCharacter: SubSequence {
    var back = 0
    for byte in reversed().prefix(4) {
      back += 1
      if byte & 0xC0 == 0x80 { continue }
      let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      return length > back ? dropLast(back) : dropLast(0)
    }
    return dropLast(0)
  }
}
