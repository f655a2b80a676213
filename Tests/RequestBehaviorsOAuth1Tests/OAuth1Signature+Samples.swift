import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import Testing

extension OAuth1Signature {
  /// The signature of a request of which a test cares about a part.
  static func sample(
    _ url: String, method: RequestMethod = .get, headers: HeaderFields = [:], body: String? = nil,
    signedBy signatureMethod: OAuth1SignatureMethod = .hmacSHA1, options: OAuth1Options = OAuth1Options(),
    additional: [(name: String, value: String)] = []
  ) throws -> OAuth1Signature {
    var parameters = OAuth1ProtocolParameters(consumerKey: "ck", token: "tk", nonce: "nonce", timestamp: 1_700_000_000)
    parameters.additional = additional
    return try OAuth1Signature(
      method: method, url: #require(URL(string: url)), headers: headers, body: body.map { Data($0.utf8) },
      parameters: parameters,
      key: OAuth1SigningKey(method: signatureMethod, consumerSecret: "cs-canary", tokenSecret: "ts-canary"),
      options: options)
  }

  /// The request of X's "Creating a signature": a form POST whose base string has 446 octets or so.
  static func walkThrough() throws -> OAuth1Signature {
    try OAuth1Signature(
      method: .post,
      url: #require(URL(string: "https://api.twitter.com/1.1/statuses/update.json?include_entities=true")),
      headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Data("status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21".utf8),
      parameters: OAuth1ProtocolParameters(
        consumerKey: "xvz1evFS4wEEPTGEFPHBog", token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", timestamp: 1_318_622_958),
      key: OAuth1SigningKey(
        method: .hmacSHA1, consumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
        tokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"))
  }

  /// The collected parameters that are not the protocol's, percent-encoded.
  var ownParameters: [String] {
    collectedParameters.map(\.encoded).filter { !$0.hasPrefix("oauth_") }
  }
}
