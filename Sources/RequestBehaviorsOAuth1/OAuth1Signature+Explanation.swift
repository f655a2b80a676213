import RequestBehaviors

extension OAuth1Signature: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The signature method, the request method and the URI, without parameters.
  public var description: String { "OAuth1Signature(\(key.method.name), \(requestMethod) \(baseStringURI))" }

  /// The steps of the signature, without secrets.
  public var debugDescription: String { explanation() }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Explains the signature: every step with its section of RFC 5849, one under the other.
  ///
  /// Compare it with the service's own steps; ``difference(from:)`` does that for the base string.
  ///
  /// - Parameter showingSecrets: Whether to show the signing key, the signature of `PLAINTEXT`, the `oauth_verifier`
  ///   and other additional parameters, and the values that `Redactor.standard` hides; by default they read
  ///   `REDACTED`.
  /// - Returns: Several lines of text.
  public func explanation(showingSecrets: Bool = false) -> String {
    // Each step hides secret values before it is joined and escaped, so that all steps agree.
    let shown = { (parameter: OAuth1EncodedPair) in showingSecrets ? parameter : redacted(parameter) }
    let collected = collectedParameters.map { shown($0).encoded }
    let sorted = sortedParameters.map { shown($0).encoded }.joined(separator: "&")
    let base = [requestMethod.rawValue.uppercased(), baseStringURI, sorted].map { PercentEncoding.escape($0) }
    let sent = protocolParameters.map { shown(OAuth1EncodedPair($0.name, $0.value)).encoded }
    return """
      Collected parameters: query, form body, protocol (RFC 5849 §3.4.1.3.1)
        \(collected.joined(separator: "\n  "))
      Parameter string (§3.4.1.3.2)
        \(sorted)
      Base string URI (§3.4.1.2)
        \(baseStringURI)
      Signature base string (§3.4.1.1)
        \(base.joined(separator: "&"))
      Signing key (§3.4.2)
        \(showingSecrets ? key.text : "REDACTED: \(key.lengths)")
      Protocol parameters as they are sent, with the \(key.method.name) signature (§3.5)
        \(sent.joined(separator: "\n  "))
      """
  }

  /// Sentences about possible faults of the secrets and of the values that identify app and user, without their values.
  var suspicions: [String] {
    let sent = { (name: String) in protocolParameters.first { $0.name == name }?.value }
    let secrets = key.secrets
    var values = [("consumer key", sent("oauth_consumer_key") ?? ""), ("token", sent("oauth_token") ?? "")]
    guard !key.method.isRSA else { return values.flatMap(OAuth1Signature.suspicions) }
    values += [("consumer secret", secrets.consumer), ("token secret", secrets.token)]
    var found = values.flatMap(OAuth1Signature.suspicions)
    if secrets.consumer.isEmpty { found.append("The consumer secret is empty.") }
    if secrets.token.isEmpty, sent("oauth_token") ?? "" != "" { found.append("The token's secret is empty.") }
    return found
  }

  private static func suspicions(_ name: String, _ value: String) -> [String] {
    var found: [String] = []
    if value.contains(where: \.isWhitespace) {
      let isAtEnd = value.first?.isWhitespace == true || value.last?.isWhitespace == true
      let kind = value.contains(where: \.isNewline) ? "a line break" : "white space"
      found.append("The \(name) \(isAtEnd ? "begins or ends with" : "contains") \(kind): was it copied with it?")
    }
    if value.count > 1, let quote = value.first, quote == value.last, "\"'".contains(quote) {
      found.append("The \(name) is in quotes: were they copied with it?")
    }
    let octets = Array(value.utf8)
    if octets.indices.contains(where: { PercentEncoding.isEscape(octets, at: $0) }) {
      found.append("The \(name) contains a percent-escape: was it escaped already?")
    }
    return found
  }

  /// Returns the parameter with a value that may be shown; the word needs no escaping, so every step can hold it.
  func redacted(_ parameter: OAuth1EncodedPair) -> OAuth1EncodedPair {
    let name = String(decoding: parameter.name, as: UTF8.self)
    // Any other `oauth_` parameter may be a verifier or a session handle, so it is hidden.
    let isSecret =
      switch name {
      case "oauth_signature": key.method.isPlaintext
      case "oauth_callback", "oauth_body_hash": false
      case let name where OAuth1ProtocolParameters.protocolNames.contains(name): false
      case let name where name.hasPrefix("oauth_"): true
      default: Redactor.standard.isSensitive(field: name)
      }
    return isSecret ? OAuth1EncodedPair(name: parameter.name, value: Array("REDACTED".utf8)) : parameter
  }
}
