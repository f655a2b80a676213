import RequestBehaviors

/// The protocol parameters of one request (RFC 5849 §3.1), without the method and the signature.
public struct OAuth1ProtocolParameters: Sendable {
  /// The value of `oauth_consumer_key`.
  public var consumerKey: String
  /// The value of `oauth_token`; `nil` leaves it out.
  public var token: String?
  /// The value of `oauth_nonce`, different for every request of one timestamp; only `PLAINTEXT` goes without.
  public var nonce: String?
  /// The value of `oauth_timestamp`, seconds since 1970, at least 1; only `PLAINTEXT` goes without.
  public var timestamp: Int?
  /// The value of `oauth_body_hash` for a body whose octets are not in memory; `nil`, the default, leaves it to
  /// ``OAuth1Options/includesBodyHash``.
  public var bodyHash: String?
  /// Further protocol parameters, such as `oauth_callback` and `oauth_verifier`; by default none.
  ///
  /// `realm` is refused, and so are the names that the other properties or the signature set.
  public var additional: [(name: String, value: String)] = []

  /// The names that only the signature itself may send.
  static let protocolNames: Set = [
    "oauth_consumer_key", "oauth_token", "oauth_signature_method", "oauth_signature", "oauth_timestamp", "oauth_nonce",
    "oauth_version",
  ]

  /// Creates the parameters of a request.
  ///
  /// - Parameters:
  ///   - consumerKey: The consumer's key.
  ///   - token: The token; by default none.
  ///   - nonce: A text that no other request of the timestamp has; at least 128 random bits are safe.
  ///   - timestamp: Seconds since 1970.
  public init(consumerKey: String, token: String? = nil, nonce: String?, timestamp: Int?) {
    self.consumerKey = consumerKey
    self.token = token
    self.nonce = nonce
    self.timestamp = timestamp
  }
}

extension OAuth1ProtocolParameters: CustomStringConvertible, CustomReflectable {
  /// The names of the parameters, and the values of nonce and timestamp only, which are no secrets.
  public var description: String {
    let names = ["oauth_consumer_key"] + (token == nil ? [] : ["oauth_token"]) + additional.map(\.name)
    let facts = [nonce.map { "oauth_nonce=\($0)" }, timestamp.map { "oauth_timestamp=\($0)" }].compactMap(\.self)
    return "OAuth1ProtocolParameters(\((names + facts).joined(separator: ", ")))"
  }

  /// Only the description: printing or dumping parameters must not show a token or a verifier.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
