extension Redactor {
  /// Returns free text, such as the message of an underlying error, with what looks like a secret hidden.
  ///
  /// - URLs are shown as ``redact(_:)-(URL)`` shows them.
  /// - The values of sensitive names are hidden in the forms `name=value`, `name: value` and `"name": "value"`, and all
  ///   that an XML element of such a name contains.
  /// - The credentials after the name of an authentication scheme, JSON Web Tokens and PEM blocks are hidden.
  ///
  /// This is a net for text whose form is unknown, not a proof: pass the secrets that are known.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - secrets: Values that must not appear, as for ``hiding(_:)``.
  /// - Returns: The text as it may be shown.
  public func redact(text: String, hiding secrets: [String] = []) -> String {
    if !secrets.isEmpty { return hiding(secrets).redact(text: text) }
    if knownSecrets.isEmpty { return redactedByShape(text) }
    let shown = hidingKnownSecrets(in: Array(text.utf8), isCutOff: false) { bytes in
      var scanner = TextRedaction(bytes: bytes, rules: rules)
      return scanner.run()
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// The text without what looks like a secret, whatever is known.
  func redactedByShape(_ text: String) -> String {
    var text = text
    let shown = text.withUTF8 { bytes in
      var scanner = TextRedaction(bytes: bytes, rules: rules)
      return scanner.run().map { String(decoding: $0, as: UTF8.self) }
    }
    return shown ?? text
  }

  /// Hides what is known to be secret and what the closure finds.
  ///
  /// Known secrets that are phrases are hidden first, since the closure might hide a part of one and leave the rest. The
  /// others are hidden last, since one may be a word that the closure must see: with `token` hidden, nothing would tell
  /// that a token follows.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - isCutOff: Whether a secret at the end of the text may lack its own end.
  ///   - redact: Returns the text as it may be shown otherwise; `nil` if that is as it is.
  /// - Returns: The text as it may be shown.
  func hidingKnownSecrets(
    in text: some Sequence<UInt8>, isCutOff: Bool, redact: (UnsafeBufferPointer<UInt8>) -> [UInt8]?
  ) -> [UInt8] {
    var shown = Array(text)
    func apply(_ change: (UnsafeBufferPointer<UInt8>) -> [UInt8]?) {
      shown = shown.withUnsafeBufferPointer(change) ?? shown
    }
    apply { knownSecrets.hide(in: $0, phrasesOnly: true, isCutOff: isCutOff) }
    apply(redact)
    apply { knownSecrets.hide(in: $0, isCutOff: isCutOff) }
    return shown
  }
}

extension Redactor {
  /// Returns the beginning of a text that a server sent, with secrets hidden, on one line.
  ///
  /// - Parameter text: The text, of which the first 160 characters are taken.
  /// - Returns: The line.
  public func redact(line text: String) -> String {
    redact(text: text.prefix(160).map { $0.isNewline ? " " : String($0) }.joined())
  }
}
