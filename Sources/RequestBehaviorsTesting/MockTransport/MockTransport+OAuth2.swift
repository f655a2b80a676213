public import Foundation
public import RequestBehaviors

extension MockTransport {
  /// Adds the stubs of an OAuth 2 authorization server below the base URL, and returns the server.
  ///
  /// ```swift
  /// let id = mock.oauth2()
  /// let grant = try await flow.signIn { url in
  ///   try id.authorize(url)
  /// }
  /// ```
  ///
  /// Its endpoints are `authorize`, `token`, `revoke` and `device`, and it has the metadata document of RFC 8414. It
  /// keeps the rules that clients break most often; see ``MockOAuth2Server``. Its responses echo `X-API-Nonce`, so that
  /// `.nonceVerification()` accepts them.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime of the tokens in seconds; an hour by default.
  ///   - members: Further members of each token response, such as a team.
  /// - Returns: The server, which plays the user's part too.
  public func oauth2(lifetime: Int = 3_600, members: [String: String] = [:]) -> MockOAuth2Server {
    let server = MockOAuth2Server(lifetime: lifetime, members: members)
    for endpoint in ["token", "revoke", "device"] {
      on(.post, endpoint).respond { [baseURL] request in
        let reply = server.reply(at: endpoint, to: try request.form, baseURL: baseURL)
        return request.response(reply ?? MockOAuth2Server.Reply(status: 404))
      }.optional()
    }
    // The path of the base URL comes after that of the document (RFC 8414 §3.1).
    var document = URLComponents(url: baseURL, resolvingAgainstBaseURL: true)
    document?.path = MockOAuth2Server.metadataPath + (baseURL.path == "/" ? "" : baseURL.path)
    on(.get, document?.url?.absoluteString).respond { [baseURL] request in
      request.response(server.metadata(baseURL, announcesIssuer: false))
    }.optional()
    return server
  }
}

extension NetworkRequest {
  /// Returns the response of a server, with the nonce of the request.
  fileprivate func response(_ reply: MockOAuth2Server.Reply) -> NetworkResponse {
    var response = NetworkResponse(request: self, statusCode: reply.status)
    if !reply.members.isEmpty {
      response.headers = ["Content-Type": "application/json", "Cache-Control": "no-store"]
      response.body = .data(reply.body)
    }
    response.headers["X-API-Nonce"] = headers["X-API-Nonce"]
    return response
  }
}

extension URL {
  /// Returns the callback with which a server ends a sign-in: the redirect URI of a page with a code and its state.
  ///
  /// ```swift
  /// try await flow.signIn { url in .callback(to: url, code: "abc") }
  /// ```
  ///
  /// - Parameters:
  ///   - page: The page that the sign-in opens.
  ///   - code: The code; `nil` for a callback without one.
  ///   - parameters: Further parameters, such as `iss`.
  /// - Returns: The callback; the page itself if it has no redirect URI.
  public static func callback(to page: URL, code: String?, _ parameters: Query = [:]) -> URL {
    let query = Query(percentEncoded: page.query(percentEncoded: true) ?? "")
    guard let redirect = query["redirect_uri"] else { return page }
    let items: Query = ["code": code, "state": query["state"]]
    let joint = redirect.contains("?") ? "&" : "?"
    return URL(string: redirect + joint + Query(items.items + parameters.items).percentEncoded) ?? page
  }
}
