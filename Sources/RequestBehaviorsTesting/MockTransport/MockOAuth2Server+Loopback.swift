import Foundation
import RequestBehaviors

extension MockOAuth2Server {
  /// Returns the response to a request over a real connection.
  ///
  /// ```swift
  /// let id = MockOAuth2Server()
  /// let service = try LoopbackServer { request in
  ///   id.response(to: request) ?? .status(404)
  /// }
  /// let server = try await OAuth2Server.discover(
  ///   "http://127.0.0.1:\(service.port)", over: client)
  /// ```
  ///
  /// Its endpoints are those of the metadata (RFC 8414): `/authorize`, a page with the buttons "Allow" and "Deny",
  /// `/token`, `/revoke` and `/device`. A browser that opens the page with the further parameter `decision=allow` or
  /// `decision=deny` is sent on as by the buttons. Every callback has the parameter `iss` (RFC 9207).
  ///
  /// - Parameter request: The request, as a ``LoopbackServer`` received it.
  /// - Returns: The response; `nil` if the path is not that of an endpoint.
  public func response(to request: LoopbackRequest) -> LoopbackResponse? {
    guard let baseURL = URL(string: "http://\(request.headers["Host"] ?? "")/") else { return nil }
    switch (request.method, request.path) {
    case (.get, MockOAuth2Server.metadataPath):
      return MockOAuth2Server.response(metadata(baseURL, announcesIssuer: true))
    case (.get, "/authorize"): return consent(request, baseURL)
    case (.post, "/token"), (.post, "/revoke"), (.post, "/device"):
      let form = Query(percentEncoded: request.text, plusIsSpace: true)
      return reply(at: String(request.path.dropFirst()), to: form, baseURL: baseURL).map(MockOAuth2Server.response)
    default: return nil
    }
  }

  private static func response(_ reply: Reply) -> LoopbackResponse {
    guard !reply.members.isEmpty else { return .status(reply.status) }
    return .json(String(decoding: reply.body, as: UTF8.self), status: reply.status).header("Cache-Control", "no-store")
  }

  /// Returns the page, or sends the browser on once the user has decided.
  private func consent(_ request: LoopbackRequest, _ baseURL: URL) -> LoopbackResponse {
    guard let page = URL(string: issuer(baseURL) + request.target), let query = try? MockOAuth2Server.check(page),
      let redirect = query["redirect_uri"], MockOAuth2Server.isOfThisMachine(redirect)
    else {
      // The browser is not sent to a redirect URI of an invalid request (RFC 6749 §4.1.2.1).
      return .html(MockOAuth2Server.html("<h1>This sign-in breaks a rule.</h1>"), status: 400)
    }
    switch query["decision"] {
    case "allow":
      guard let callback = try? authorize(page, issuer: issuer(baseURL)) else { return .status(400) }
      return .redirect(to: callback.absoluteString)
    case "deny": return .redirect(to: deny(page, issuer: issuer(baseURL)).absoluteString)
    default: return .html(MockOAuth2Server.html(MockOAuth2Server.form(query)))
    }
  }

  /// Whether a redirect URI leads to a program of this machine; a server for tests sends no browser elsewhere.
  private static func isOfThisMachine(_ redirect: String) -> Bool {
    guard let url = URL(string: redirect), let scheme = url.scheme?.lowercased() else { return false }
    return scheme == "http" ? ["127.0.0.1", "::1", "[::1]"].contains(url.host() ?? "") : scheme.contains(".")
  }

  private static func html(_ body: String) -> String {
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sign in</title><body>\(body)</body></html>"
  }

  /// The question to the user, with the parameters of the page.
  private static func form(_ query: Query) -> String {
    let inputs = query.items.map { item in
      "<input type=\"hidden\" name=\"\(escaped(item.name))\" value=\"\(escaped(item.value))\">"
    }
    return """
      <h1>Allow \(escaped(query["client_id"] ?? "a client")) to act for you?</h1>
      <p>It asks for: \(escaped(query["scope"] ?? "what the server chooses")).</p>
      <form action="/authorize" method="get">\(inputs.joined())
      <button name="decision" value="allow">Allow</button>
      <button name="decision" value="deny">Deny</button></form>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing(scalar: "&", with: "&amp;").replacing(scalar: "<", with: "&lt;").replacing(scalar: ">", with: "&gt;")
      .replacing(scalar: "\"", with: "&quot;")
  }
}
