import Foundation
import RequestBehaviors

/// A form-encoded response of a service to the request for a token, or the query of its callback.
struct OAuth1TokenResponse: Sendable {
  let fields: [(name: String, value: String)]

  /// Reads a form.
  ///
  /// White space around it, such as a line break at the end of a body, does not count: a form escapes its own spaces.
  init(_ form: some Sequence<UInt8>) {
    fields = OAuth1EncodedPair.list(form: OAuth1TokenResponse.trimmed(Array(form))).map {
      (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
    }
  }

  private static func trimmed(_ octets: [UInt8]) -> ArraySlice<UInt8> {
    let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0d).contains(octet) }
    guard let first = octets.firstIndex(where: { !isSpace($0) }),
      let last = octets.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return octets[first...last]
  }

  subscript(name: String) -> String? { fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

  /// Returns the request token of the response (RFC 5849 §2.1).
  ///
  /// - Throws: `NetworkError` if a field is missing or the callback is not confirmed.
  func requestToken() throws -> OAuth1RequestToken {
    let (token, secret) = try credentials()
    guard self["oauth_callback_confirmed"] == "true" else {
      throw NetworkError(
        .oauth1CallbackNotConfirmed,
        "the response lacks oauth_callback_confirmed=true (RFC 5849 §2.1): the service speaks OAuth 1.0, whose sign-in "
          + "others can take over")
    }
    return OAuth1RequestToken(token: token, secret: secret)
  }

  /// Returns the access token of the response (RFC 5849 §2.3).
  ///
  /// - Throws: `NetworkError` if a field is missing.
  func accessToken() throws -> OAuth1AccessToken {
    let (token, secret) = try credentials()
    return OAuth1AccessToken(
      credentials: OAuth1Credentials(token: token, secret: secret),
      fields: fields.filter { $0.name != "oauth_token" && $0.name != "oauth_token_secret" })
  }

  private func credentials() throws -> (token: String, secret: String) {
    guard let token = self["oauth_token"], !token.isEmpty, let secret = self["oauth_token_secret"] else {
      throw NetworkError(
        .oauth1InvalidResponse,
        "the response lacks oauth_token or oauth_token_secret (RFC 5849 §2.1, §2.3); is the URL that of the service's "
          + "token endpoint? \(problemNote)")
    }
    return (token, secret)
  }

  /// The problem that the service reports: `oauth_problem` of the OAuth Problem Reporting extension.
  var problem: String? { self["oauth_problem"] }

  private var problemNote: String { problem.map { "It says \($0)" } ?? "It gives no oauth_problem" }
}

extension OAuth1TokenResponse {
  /// Returns the verifier of a callback (RFC 5849 §2.2).
  ///
  /// - Parameters:
  ///   - callback: The URL that the service sent the user back to.
  ///   - token: The request token that the sign-in began with.
  /// - Returns: The value of `oauth_verifier`.
  /// - Throws: `NetworkError` if the user refused, or if the callback is of another sign-in or has no verifier.
  static func verifier(in callback: URL, for token: OAuth1RequestToken) throws -> String {
    let text = callback.absoluteString.utf8
    let query = text.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
    let answer = OAuth1TokenResponse(query)
    // Some services report a refusal with `denied`, others with `oauth_problem`.
    if let denied = answer["denied"] {
      try check(denied, token)
      throw NetworkError(.oauth1Denied, "the user refused the sign-in")
    }
    if let problem = answer.problem { throw refusal(problem) }
    guard let sent = answer["oauth_token"] else {
      throw NetworkError(
        .oauth1UnexpectedCallback, "the callback has no oauth_token (RFC 5849 §2.2); is it the service's?")
    }
    try check(sent, token)
    guard let verifier = answer["oauth_verifier"], !verifier.isEmpty else {
      throw NetworkError(
        .oauth1UnexpectedCallback, "the callback has no oauth_verifier (RFC 5849 §2.2); begin the sign-in again")
    }
    return verifier
  }

  static func refusal(_ problem: String, response: NetworkResponse? = nil) -> NetworkError {
    let known = Redactor.standard.redact(text: String(problem.prefix(64)))
    if ["user_refused", "permission_denied", "access_denied"].contains(problem) {
      return NetworkError(.oauth1Denied, "the user refused the sign-in (\(known))", response: response)
    }
    return NetworkError(.oauth1Refused, "the service refused the sign-in: oauth_problem=\(known)", response: response)
  }

  private static func check(_ sent: String, _ token: OAuth1RequestToken) throws {
    guard sent.utf8.elementsEqual(token.token.utf8) else {
      throw NetworkError(
        .oauth1UnexpectedCallback, "the callback is for another request token than the one of this sign-in; begin again"
      )
    }
  }
}
