package import Foundation

extension Redactor {
  /// Returns a whole body with its secrets replaced by values of the same type and shape.
  ///
  /// JSON stays JSON that decodes to the same types, also within strings, within the values of forms and within the
  /// events of an event stream. If the type says JSON and the body is not well-formed, it is redacted as text; with
  /// ``sensitivePointers``, only what is before the first error is returned.
  ///
  /// The bytes outside of secrets stay as they are, also those of other encodings than UTF-8.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - contentType: The value of its `Content-Type`.
  ///   - playable: The rules for links, and the placeholders.
  /// - Returns: The body; `nil` if it is neither JSON, a form nor text.
  func redactKeepingShape(body: Data, contentType: String?, _ playable: PlayableRedaction) -> Data? {
    guard let kind = BodyKind(contentType, readingIfUnknown: body) else { return nil }
    let isEvents = BodyKind.mediaType(contentType) == "text/event-stream"
    let bytes = Array(body)
    let shown = bytes.withUnsafeBufferPointer { bytes -> [UInt8]? in
      switch kind {
      case .json:
        if let shown = prefixedJSON(bytes, playable) { return shown }
        // Pointers find no place in JSON that is broken, so the rest is left out.
        let isHiddenByPlace = !sensitivePointers.isEmpty && BodyKind(contentType) == .json
        return isHiddenByPlace ? json(bytes, playable).shown : text(bytes, playable)
      case .form: return form(bytes, playable)
      case .text where isEvents: return events(bytes, playable)
      case .text, .other: return text(bytes, playable)
      }
    }
    return Data(hidingKnownSecrets(in: shown ?? bytes, isCutOff: false, playable.placeholders) { _ in nil })
  }

  private func json(
    _ bytes: UnsafeBufferPointer<UInt8>, _ playable: PlayableRedaction
  ) -> (shown: [UInt8], isWellFormed: Bool) {
    var scanner = JSONRedaction(bytes: bytes, rules: rules, playable: playable)
    let shown = scanner.run()
    return (shown, scanner.isWellFormed)
  }

  /// Redacts JSON; `nil` if it is not well-formed.
  ///
  /// Some servers put a prefix such as `)]}'` before it, so that a page of another origin cannot run it.
  private func prefixedJSON(_ bytes: UnsafeBufferPointer<UInt8>, _ playable: PlayableRedaction) -> [UInt8]? {
    let whole = json(bytes, playable)
    if whole.isWellFormed { return whole.shown }
    let start = bytes.prefix(16).firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
    guard let start, start > 0 else { return nil }
    let rest = json(UnsafeBufferPointer(rebasing: bytes[start...]), playable)
    return rest.isWellFormed ? bytes[..<start] + rest.shown : nil
  }

  private func text(_ bytes: UnsafeBufferPointer<UInt8>, _ playable: PlayableRedaction) -> [UInt8]? {
    var scanner = TextRedaction(bytes: bytes, rules: rules, playable: playable)
    return scanner.run()
  }

  /// Redacts the lines of an event stream one by one; the JSON after `data:` stays JSON.
  private func events(_ bytes: UnsafeBufferPointer<UInt8>, _ playable: PlayableRedaction) -> [UInt8] {
    var output: [UInt8] = []
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if number > 0 { output.append(UInt8(ascii: "\n")) }
      let start = line.firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
      if let start, line.starts(with: "data:".utf8) {
        let value = UnsafeBufferPointer(rebasing: line[start...])
        let shown = json(value, playable)
        if shown.isWellFormed {
          output += line[..<start] + shown.shown
          continue
        }
      }
      output += text(UnsafeBufferPointer(rebasing: line), playable) ?? Array(line)
    }
    return output
  }

  private func form(_ bytes: UnsafeBufferPointer<UInt8>, _ playable: PlayableRedaction) -> [UInt8] {
    let pairs = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let isSignIn = SignInNames.isSignIn(pairs: bytes)
    let shown = pairs.map { pair -> [UInt8] in
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
        return pair.isEmpty ? [] : RedactionRules.placeholder
      }
      let written = String(decoding: pair[..<equals], as: UTF8.self)
      let name = written.replacing(scalar: "+", with: " ").removingPercentEncoding ?? written
      let kind = SignInNames.ambiguous(name.utf8)
      let isHidden = isSensitive(field: name) || kind == .code || (kind == .state && isSignIn)
      let value = String(decoding: pair[(equals + 1)...], as: UTF8.self)
      guard isHidden else {
        let decoded = PercentEncoding.decodedForm(value)
        let shown = playable.hidingNested(in: decoded)
        return shown == decoded ? Array(pair) : pair[...equals] + Array(PercentEncoding.escape(shown).utf8)
      }
      let placeholder = playable.placeholders.placeholder(for: value.removingPercentEncoding ?? value)
      return pair[...equals] + Array(placeholder.utf8)
    }
    return Array(shown.joined(separator: "&".utf8))
  }
}

extension Redactor {
  /// The values that are hidden everywhere.
  package var hiddenValues: Set<String> { Set(knownSecrets.values) }

  /// Returns a text without the values that are hidden everywhere.
  package func hidingKnownSecrets(in text: String, _ placeholders: RedactionPlaceholders? = nil) -> String {
    knownSecrets.hide(in: text, placeholders)
  }

  /// Returns bytes, of text or not, without the values that are hidden everywhere.
  package func hidingKnownSecrets(in bytes: Data) -> Data {
    let hidden = Array(bytes).withUnsafeBufferPointer { knownSecrets.hide(in: $0) }
    return hidden.map { Data($0) } ?? bytes
  }

  /// Whether a text contains a value that is hidden everywhere, in any encoding.
  package func hasHiddenValue(in text: Data) -> Bool {
    Array(text).withUnsafeBufferPointer { knownSecrets.hide(in: $0) } != nil
  }
}
