import Foundation
import RequestBehaviors

/// The parameters of an authorization request, and its URL (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct AuthorizationRequest: Sendable {
  let clientID: String
  let redirectURI: URL
  let scopes: [String]
  let state: String
  let verifier: String
  let nonce: String?
  let keyThumbprint: String?
  let resources: [URL]
  let additional: Query

  /// The names that the library sets, or that would replace all others.
  private static let reserved: Set<String> = [
    "state", "client_id", "redirect_uri", "response_type", "scope", "code_challenge", "code_challenge_method", "nonce",
    "dpop_jkt", "request", "request_uri",
  ]

  /// The parameters in their order; the user's come last.
  var parameters: Query {
    var query: Query = [
      "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI.absoluteString,
      "scope": scopes.isEmpty ? nil : scopes.joined(separator: " "), "state": state,
      "code_challenge": ProofKey.challenge(of: verifier), "code_challenge_method": "S256", "nonce": nonce,
      "dpop_jkt": keyThumbprint, "resource": resources.map(\.absoluteString),
    ]
    query.items += additional.items
    return query
  }

  /// Checks the parameters of the user and of the endpoint's own query: nothing may come twice (RFC 6749 §3.1).
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer`.
  func check(_ endpoint: URL) throws {
    let own = FormPairs(endpoint.query(percentEncoded: true) ?? "").names
    var seen: Set<String> = []
    for name in own + additional.items.map(\.name) {
      if AuthorizationRequest.reserved.contains(name) {
        throw NetworkError.invalidServer("the parameter \(name) is set by the flow and cannot be given")
      }
      // RFC 8707 §2: a resource may repeat.
      guard seen.insert(name).inserted || name == "resource" else {
        throw NetworkError.invalidServer("the parameter \(name) is given twice (RFC 6749 §3.1)")
      }
    }
    for scope in scopes where scope.isEmpty || !scope.utf8.allSatisfy(AuthorizationRequest.isScopeCharacter) {
      throw NetworkError.invalidServer("the scope \"\(scope)\" has characters that RFC 6749 §3.3 does not allow")
    }
  }

  private static func isScopeCharacter(_ octet: UInt8) -> Bool {
    (0x21...0x7E).contains(octet) && octet != 0x22 && octet != 0x5C
  }

  /// Returns the page to open, with parameters after the endpoint's own query.
  static func url(_ endpoint: URL, _ query: Query) throws -> URL {
    guard var parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else {
      throw NetworkError.invalidServer("the authorization endpoint is not a URL")
    }
    let own = parts.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
    parts.percentEncodedQuery = own + query.percentEncoded
    guard let url = parts.url else { throw NetworkError.invalidServer("the authorization endpoint is not a URL") }
    return url
  }
}
