public import Foundation
import RequestBehaviors

/// The checks before a request is signed, and the parts that are made for its signature.
extension OAuth1Signature {
  /// Returns the value of `oauth_body_hash`: the Base64 of the body's hash; a missing body has the hash of no octets.
  ///
  /// This is an extension to the protocol (OAuth Request Body Hash 1.0, draft 4). A form body has no hash, because it
  /// is signed itself.
  ///
  /// - Parameters:
  ///   - body: The octets of the body.
  ///   - method: The signature method, whose hash function is used.
  /// - Returns: `nil` for `PLAINTEXT`, which has no hash function.
  public static func bodyHash(of body: Data, method: OAuth1SignatureMethod) -> String? {
    if method.isPlaintext { return nil }
    return Data(body.withUnsafeBytes { method.hashFunction.digest(of: $0) }).base64EncodedString()
  }

  /// Returns a URL without the dot segments of its path, as HTTP clients send it (RFC 3986 §5.2.4).
  ///
  /// Segments with an escaped dot stay: clients send those as they are.
  ///
  /// - Parameter url: The URL as it was written.
  /// - Returns: The same URL if it has no dot segments.
  public static func removingDotSegments(from url: URL) -> URL {
    let text = url.absoluteString.utf8
    // Most URLs have no dot segment, and taking a URL apart is slow.
    guard zip(text, text.dropFirst()).contains(where: { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ".") }) else {
      return url
    }
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
    let segments = components.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
    guard segments.contains(where: { $0 == "." || $0 == ".." }) else { return url }
    var kept: [Substring] = []
    for segment in segments.dropFirst() {
      if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
    }
    let endsInDots = segments.last == "." || segments.last == ".."
    components.percentEncodedPath = "/" + kept.joined(separator: "/") + (endsInDots && !kept.isEmpty ? "/" : "")
    return components.url ?? url
  }

  /// Returns the value of `oauth_body_hash` to send; `nil` if it is not sent.
  static func sentBodyHash(
    _ parameters: OAuth1ProtocolParameters, _ body: Data?, _ formBody: Data?, method: OAuth1SignatureMethod,
    options: OAuth1Options
  ) -> String? {
    if let hash = parameters.bodyHash { return hash }
    guard options.includesBodyHash, formBody == nil else { return nil }
    return bodyHash(of: body ?? Data(), method: method)
  }

  static func check(
    _ parameters: OAuth1ProtocolParameters, key: OAuth1SigningKey, isSecure: Bool, options: OAuth1Options
  ) throws {
    if key.method.isPlaintext {
      guard isSecure || options.allowsPlaintextOverHTTP else {
        throw NetworkError(
          .oauth1InsecurePlaintext,
          "PLAINTEXT sends both secrets, and http shows them to everybody on the way (RFC 5849 §3.4.4); use https")
      }
    } else if parameters.nonce == nil || parameters.timestamp == nil {
      throw NetworkError(
        .invalidRequest, "\(key.method.name) needs a nonce and a timestamp (RFC 5849 §3.1); only PLAINTEXT does not")
    }
    if let timestamp = parameters.timestamp, timestamp < 1 {
      throw NetworkError(
        .invalidRequest, "the timestamp \(timestamp) is not positive (RFC 5849 §3.3); give seconds since 1970")
    }
    try checkAdditional(parameters, sendsBodyHash: parameters.bodyHash != nil || options.includesBodyHash)
  }

  /// Throws if a protocol parameter would be sent twice (RFC 5849 §3.1).
  private static func checkAdditional(_ parameters: OAuth1ProtocolParameters, sendsBodyHash: Bool) throws {
    var seen: Set<String> = []
    // A parameter that is not of the protocol may repeat, so only names with its prefix are counted.
    for (name, _) in parameters.additional {
      if name == "realm" {
        throw NetworkError(
          .invalidRequest,
          "realm is not a protocol parameter and is not signed (RFC 5849 §3.4.1.3.1); set it as OAuth1Options.realm")
      }
      if OAuth1ProtocolParameters.protocolNames.contains(name) || (name == "oauth_body_hash" && sendsBodyHash) {
        throw NetworkError(
          .invalidRequest,
          "\(name) among the additional parameters would be sent twice (RFC 5849 §3.1); the signature sets it itself")
      }
      if name.hasPrefix("oauth_"), !seen.insert(name).inserted {
        throw NetworkError(
          .invalidRequest,
          "\(name) is among the additional parameters twice; each protocol parameter is sent once (RFC 5849 §3.1)")
      }
    }
  }

  static func unsignedParameters(
    _ parameters: OAuth1ProtocolParameters, method: OAuth1SignatureMethod, options: OAuth1Options
  ) -> [(name: String, value: String)] {
    var sent: [(name: String, value: String)] = []
    sent.reserveCapacity(8 + parameters.additional.count)
    sent.append(("oauth_consumer_key", parameters.consumerKey))
    if let token = parameters.token { sent.append(("oauth_token", token)) }
    sent.append(("oauth_signature_method", method.name))
    if let timestamp = parameters.timestamp { sent.append(("oauth_timestamp", String(timestamp))) }
    if let nonce = parameters.nonce { sent.append(("oauth_nonce", nonce)) }
    if options.includesVersion { sent.append(("oauth_version", "1.0")) }
    return sent + parameters.additional
  }
}
