extension Redactor {
  /// Returns free text, such as the message of an underlying error, with probable secrets hidden.
  ///
  /// - URLs are shown as ``redact(_:)-(URL)`` shows them.
  /// - The values of sensitive names are hidden in the forms `name=value`, `name: value` and `"name": "value"`, and the
  ///   content of XML elements with such a name.
  /// - The credentials after the name of an authentication scheme, JSON Web Tokens and PEM blocks are hidden.
  ///
  /// For text of unknown form this finds secrets only by their shape, so pass the secrets that are known.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - secrets: Values that must not appear, as for ``hiding(_:)``.
  /// - Returns: The text in the form that may be shown.
  public func redact(text: String, hiding secrets: [String] = []) -> String {
    if !secrets.isEmpty { return hiding(secrets).redact(text: text) }
    return redact(text: text, isCutOff: false)
  }

  private func redact(text: String, isCutOff: Bool) -> String {
    var text = text
    // Most texts hold no known secret.
    if !isCutOff, !text.withUTF8(knownSecrets.isPossible) { return redactedByShape(text) }
    let shown = hidingKnownSecrets(in: Array(text.utf8), isCutOff: isCutOff) { bytes in
      var scanner = TextRedaction(bytes: bytes, rules: rules, isCutOff: isCutOff)
      return scanner.run()
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Returns the text without probable secrets; known secrets are not searched for.
  func redactedByShape(_ text: String, isCutOff: Bool = false) -> String {
    var text = text
    let shown = text.withUTF8 { bytes in
      var scanner = TextRedaction(bytes: bytes, rules: rules, isCutOff: isCutOff)
      return scanner.run().map { String(decoding: $0, as: UTF8.self) }
    }
    return shown ?? text
  }

  /// Hides the known secrets, and those that the closure finds.
  ///
  /// Known secrets that are phrases are hidden first, because the closure might hide a part of one and leave the rest.
  /// The others are hidden last, because one of them may be a word that the closure needs: without the word `token` it
  /// cannot recognize the token that follows.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - isCutOff: Whether a secret at the end of the text may be incomplete.
  ///   - placeholders: Makes the placeholders of the known secrets; by default they have no numbers.
  ///   - redact: Returns the text without the secrets that it finds; `nil` if it finds no secret.
  /// - Returns: The text in the form that may be shown.
  func hidingKnownSecrets(
    in text: some Sequence<UInt8>, isCutOff: Bool, _ placeholders: RedactionPlaceholders? = nil,
    redact: (UnsafeBufferPointer<UInt8>) -> [UInt8]?
  ) -> [UInt8] {
    var shown = Array(text)
    func apply(_ change: (UnsafeBufferPointer<UInt8>) -> [UInt8]?) {
      shown = shown.withUnsafeBufferPointer(change) ?? shown
    }
    apply { knownSecrets.hide(in: $0, phrasesOnly: true, isCutOff: isCutOff, placeholders) }
    apply(redact)
    apply { knownSecrets.hide(in: $0, isCutOff: isCutOff, placeholders) }
    return shown
  }
}

extension Redactor {
  /// Returns the beginning of a text that a server sent, with secrets hidden, on one line.
  ///
  /// - Parameter text: The text.
  /// - Returns: The line, of at most 160 characters.
  public func redact(line text: String) -> String {
    redact(beginningOf: text, limit: 160, onOneLine: true)
  }

  /// Returns the beginning of a text that a server sent, with secrets hidden.
  ///
  /// The text is cut after it is redacted, because half a secret would not be found.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - limit: The most characters to return.
  ///   - onOneLine: Whether a space replaces each line break.
  /// - Returns: The text in the form that may be shown.
  package func redact(beginningOf text: String, limit: Int, onOneLine: Bool = false) -> String {
    // Far more than is shown, so that a huge text costs little.
    let searched = text.unicodeScalars.prefix(16_384)
    let isCutOff = searched.endIndex < text.endIndex
    var start = isCutOff ? String(searched) : text
    if onOneLine { start = start.map { $0.isNewline ? " " : String($0) }.joined() }
    return String(redact(text: start, isCutOff: isCutOff).prefix(limit))
  }
}
