import Foundation
import RequestBehaviors

/// The metadata document of an authorization server (RFC 8414 §2).
enum OAuth2Metadata {
  /// Returns the URLs at which the document of an issuer may be: of RFC 8414 §3, and of OpenID Connect Discovery §4.
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer` unless the issuer is an https URL without query and
  ///   fragment.
  static func places(of issuer: String) throws -> [URL] {
    guard let url = URL(string: issuer), var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
      EndpointRules.isSecure(url), parts.percentEncodedQuery == nil, parts.percentEncodedFragment == nil,
      parts.percentEncodedUser == nil
    else {
      throw NetworkError.invalidServer(
        "the issuer \(EndpointRules.shown(issuer)) is not an https URL without query and fragment (RFC 8414 §2)")
    }
    // A slash at the end is removed before the path is appended to (RFC 8414 §3.1).
    var path = parts.percentEncodedPath
    if path.hasSuffix("/") { path.removeLast() }
    return ["/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"].compactMap {
      parts.percentEncodedPath = $0
      return parts.url
    }
  }

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - data: The document.
  ///   - issuer: The issuer that it must name.
  /// - Returns: The server.
  /// - Throws: `NetworkError` of code `oauth2InvalidServer`, which names the member and the rule.
  static func read(_ data: Data, issuer: String) throws -> OAuth2Server {
    guard let members = JSONObject(data) else {
      throw NetworkError.invalidServer("the metadata of \(EndpointRules.shown(issuer)) is not a JSON object")
    }
    try checkIssuer(members.text("issuer"), issuer)
    guard let token = try url("token_endpoint", members) else {
      throw NetworkError.invalidServer("the metadata of \(EndpointRules.shown(issuer)) have no token_endpoint")
    }
    var server = OAuth2Server(
      issuer: issuer, authorize: try url("authorization_endpoint", members), token: token,
      revoke: try url("revocation_endpoint", members),
      deviceAuthorization: try url("device_authorization_endpoint", members),
      push: try url("pushed_authorization_request_endpoint", members),
      announcesIssuer: members.flag("authorization_response_iss_parameter_supported"),
      requiresPush: members.flag("require_pushed_authorization_requests"))
    if let methods = members.texts("code_challenge_methods_supported") {
      server.supportsProofKeys = methods.contains("S256")
    }
    if let aliases = members.object("mtls_endpoint_aliases") {
      for name in aliases.names { server.mutualTLSEndpoints[name] = try url(name, aliases) }
    }
    return server
  }

  /// RFC 8414 §3.3: the two must be the same text.
  private static func checkIssuer(_ found: String?, _ issuer: String) throws {
    guard found != issuer else { return }
    let slash = found == issuer + "/" || issuer == (found ?? "") + "/" ? "; they differ in the slash at the end" : ""
    throw NetworkError.invalidServer(
      "the metadata name the issuer \(EndpointRules.shown(found ?? "none")) and not \(EndpointRules.shown(issuer))"
        + " (RFC 8414 §3.3)\(slash)")
  }

  private static func url(_ name: String, _ members: JSONObject) throws -> URL? {
    guard let text = members.text(name) else { return nil }
    guard let url = URL(string: text) else {
      throw NetworkError.invalidServer("\(name) is not a URL: \(EndpointRules.shown(text))")
    }
    try EndpointRules.check(url, as: name)
    return url
  }
}
