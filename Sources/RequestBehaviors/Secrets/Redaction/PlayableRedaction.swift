package import Foundation

/// Hides what means a credential, and keeps the rest, so that a test can still play what is written.
///
/// Logs show what is known to be harmless; here two requests that differ in a hidden item of the query would be one.
package struct PlayableRedaction: Sendable {
  package let redactor: Redactor
  let placeholders: RedactionPlaceholders
  private let hidesAmbiguous: Bool

  /// Creates the rules.
  ///
  /// - Parameters:
  ///   - redactor: Knows which names mean a credential, and the values that are hidden everywhere.
  ///   - numbered: Whether placeholders tell values apart.
  ///   - last: The number before that of the first placeholder; 0 by default.
  ///   - hidesAmbiguous: Whether items with an ambiguous name are hidden whatever their value; by default a value that
  ///     looks harmless is shown.
  package init(_ redactor: Redactor, numbered: Bool, after last: Int = 0, hidesAmbiguous: Bool = false) {
    self.redactor = redactor
    self.hidesAmbiguous = hidesAmbiguous
    placeholders = RedactionPlaceholders(isNumbered: numbered, after: last)
  }

  /// Whether the name of an item means a credential in some queries, and the state of an issue in others.
  package static func isAmbiguous(query name: String) -> Bool {
    ["key", "code", "state", "ticket"].contains(name.lowercased())
  }

  /// Whether an item of a query means a credential; an ambiguous name does so by its value, and within a sign-in.
  private func isSecret(_ name: String, _ value: String, isSignIn: Bool) -> Bool {
    if redactor.isSensitive(field: name) { return true }
    guard PlayableRedaction.isAmbiguous(query: name) else { return false }
    return hidesAmbiguous || isSignIn || looksSecret(value, mayBeShort: name.lowercased() == "key")
  }

  private func looksSecret(_ value: String, mayBeShort: Bool = false) -> Bool {
    SignInNames.looksSecret(value.utf8) || SignInNames.hasWordOfKey(value.utf8, mayBeShort: mayBeShort)
  }

  /// Returns the value of an item without the secrets of JSON in it, such as the variables of GraphQL, or of a URL or
  /// query in it, such as the page after a sign-in.
  func hidingNested(in value: String) -> String {
    if value.hasPrefix("{") || value.hasPrefix("["), let shown = body(Data(value.utf8), nil) {
      return String(decoding: shown, as: UTF8.self)
    }
    guard value.contains("=") else { return hidingWebTokens(in: value) }
    let shown = Array(value.utf8).withUnsafeBufferPointer { bytes in
      var text = TextRedaction(bytes: bytes, rules: redactor.rules, playable: self)
      return text.run()
    }
    return shown.map { String(decoding: $0, as: UTF8.self) } ?? value
  }

  /// Returns a text without JSON Web Tokens and the values that are hidden everywhere.
  package func hidden(_ text: String) -> String {
    hidingWebTokens(in: redactor.hidingKnownSecrets(in: text, placeholders))
  }

  /// Hides JSON Web Tokens.
  private func hidingWebTokens(in text: String) -> String {
    guard text.contains("eyJ") else { return text }
    var text = text
    let shown = text.withUTF8 { bytes in
      var shown: [UInt8] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let word = rest.prefix { TextRedaction.words.contains($0) }
        if let token = word.dottedWebTokenStart {
          let value = String(decoding: word[token...], as: UTF8.self)
          shown += word[..<token] + Array(placeholders.placeholder(for: value).utf8)
        } else {
          shown += word
        }
        rest = rest[word.endIndex...]
        // The digits of a percent escape are no part of the word that follows.
        let separator = rest.prefix(rest.first == UInt8(ascii: "%") ? 3 : 1)
        shown += separator
        rest = rest[separator.endIndex...]
      }
      return shown
    }
    return String(decoding: shown, as: UTF8.self)
  }

  // MARK: URLs

  /// Returns a URL without user info and fragment, and with the values of credentials hidden.
  package func url(_ text: String) -> String {
    guard var parts = URLComponents(string: text) else { return redactor.redact(text: text) }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    if let items = parts.percentEncodedQueryItems {
      let isSignIn = SignInNames.isSignIn(pairs: (parts.percentEncodedQuery ?? "").utf8)
      parts.percentEncodedQueryItems = items.map { item in
        guard let written = item.value else {
          // An item without `=` has no name to judge by.
          let name = item.name.removingPercentEncoding ?? item.name
          return looksSecret(name) ? URLQueryItem(name: placeholders.placeholder(for: name), value: nil) : item
        }
        let (name, value) = (item.name.removingPercentEncoding ?? item.name, written.removingPercentEncoding ?? written)
        if isSecret(name, value, isSignIn: isSignIn) {
          return URLQueryItem(name: item.name, value: placeholders.placeholder(for: value))
        }
        let shown = hidingNested(in: value)
        return shown == value ? item : URLQueryItem(name: item.name, value: PercentEncoding.escape(shown))
      }
    }
    return hidden(parts.string ?? text)
  }

  /// Returns a URL of a body as ``url(_:)`` shows that of a request to it; `nil` if nothing in it is hidden.
  func link(_ text: String) -> String? {
    // In HTML and XML the items of a query are divided by `&amp;`.
    if text.contains("&amp;") {
      return link(text.replacing("&amp;", with: "&")).map { $0.replacing("&", with: "&amp;") }
    }
    // Only the stricter rules of logs know items that are divided otherwise.
    guard !text.contains(";"), let parts = URLComponents(string: text) else { return redactor.redact(text: text) }
    let shown = url(text)
    // A link without a secret stays as it is, byte for byte.
    return shown == parts.string ? nil : shown
  }

  // MARK: Fields

  /// Returns the fields of a request, in which values that are not on the redactor's list are hidden.
  ///
  /// They are sorted by name, because some transports lose their order.
  package func requestFields(_ headers: HeaderFields) -> HeaderFields {
    sorted(headers) { field in
      let shown = redactor.redact(HeaderFields([field])).first?.value ?? Redactor.placeholder
      guard shown == Redactor.placeholder else {
        let isType = field.name.lowercased() == "content-type"
        return isType ? PlayableRedaction.withFixedBoundary(shown) : hidingWebTokens(in: shown)
      }
      return RedactionPlaceholders.isPlaceholder(field.value) ? field.value : credential(field.value)
    }
  }

  /// Returns the type of a body with one boundary for all, because a random one would change a file each time.
  package static func withFixedBoundary(_ type: String) -> String {
    guard type.lowercased().hasPrefix("multipart/"),
      let name = type.range(of: "boundary=", options: .caseInsensitive)
    else { return type }
    return type[..<name.upperBound] + "boundary" + type[name.upperBound...].drop { $0 != ";" }
  }

  /// Returns the fields of a response.
  ///
  /// A field that means a credential is hidden whole. In the URLs of other fields, only the secret items are hidden.
  package func responseFields(_ headers: HeaderFields) -> HeaderFields {
    sorted(headers) { field in
      switch field.name.lowercased() {
      case "set-cookie", "set-cookie2":
        return redactor.redact(HeaderFields([field])).first?.value ?? ""
      case "location", "content-location": return url(field.value)
      case "link": return links(field.value)
      case _ where field.isSensitive || field.isNamedLikeCredential: return credential(field.value)
      default: return hidden(hidingURLs(in: field.value))
      }
    }
  }

  private func sorted(_ headers: HeaderFields, _ value: (HeaderFields.Field) -> String)
    -> HeaderFields
  {
    let fields = headers.enumerated().sorted {
      ($0.element.name.lowercased(), $0.offset) < ($1.element.name.lowercased(), $1.offset)
    }
    return HeaderFields(fields.map { HeaderFields.Field($0.element.name, value($0.element)) })
  }

  /// Returns a credential without its secret, and with its scheme.
  private func credential(_ value: String) -> String {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, ["bearer", "basic", "token", "dpop"].contains(parts[0].lowercased())
    else {
      return placeholders.placeholder(for: value)
    }
    // As ``CredentialValue`` finds it, so that one secret has one number.
    let secret = String(HTTPSyntax.withoutOuterSpace(parts[1]))
    return "\(parts[0]) \(placeholders.placeholder(for: secret))"
  }

  private func links(_ value: String) -> String {
    var shown = ""
    var rest = value.unicodeScalars[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      shown += String(rest[...open]) + url(String(rest[rest.index(after: open)..<close]))
      rest = rest[close...]
    }
    return shown + hidden(String(rest))
  }

  /// Returns the text of a field, such as `0; url=/next?page=2`, with the URLs in it as ``url(_:)`` shows them.
  private func hidingURLs(in value: String) -> String {
    guard value.contains("?") || value.contains("://") else { return value }
    var shown = ""
    var rest = value.unicodeScalars[...]
    while !rest.isEmpty {
      let run = rest.prefix { $0.value > 0x20 && !"\"'<>".unicodeScalars.contains($0) }
      shown += hidingURL(in: String(run))
      shown += String(rest[run.endIndex...].prefix(1))
      rest = rest[run.endIndex...].dropFirst()
    }
    return shown
  }

  private func hidingURL(in run: String) -> String {
    guard let start = PlayableRedaction.startOfURL(in: run) else { return run }
    let end = run.lastIndex { $0 != ";" && $0 != "," }.map { run.index(after: $0) } ?? run.endIndex
    guard start < end else { return run }
    let text = String(run[start..<end])
    let shown = url(text)
    var plain = URLComponents(string: text)
    // Nothing is hidden if only the spelling changes. A fragment without pairs is a place in a page.
    if plain?.fragment?.contains("=") == false { plain?.fragment = nil }
    return shown == plain?.string ? run : run[..<start] + shown + run[end...]
  }

  /// Returns the index of the scheme of a URL, or else of its query; `nil` without either.
  ///
  /// Nothing tells where a URL without a scheme begins, and only its query matters.
  private static func startOfURL(in run: String) -> String.Index? {
    let query = run.firstIndex(of: "?")
    // A URL in the query of another one is an item of it.
    guard let mark = run[..<(query ?? run.endIndex)].firstRange(of: "://") else { return query }
    let before = run[..<mark.lowerBound].lastIndex { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return before.map { run.index(after: $0) } ?? run.startIndex
  }

  // MARK: Bodies

  /// Returns a body without its secrets; `nil` if it is neither JSON, a form nor text.
  package func body(_ data: Data, _ contentType: String?) -> Data? {
    redactor.redactKeepingShape(body: data, contentType: contentType, self)
  }
}
