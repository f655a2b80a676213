#if os(macOS) || os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsOAuth2
  import RequestBehaviorsTesting

  /// A sign-in from nothing to the first token and back, against a server of this process.
  ///
  /// The server plays both parts: the authorization server with its page, and the API that takes the tokens.
  struct SignInTour {
    /// Shows the page to the user; the link is printed in any case.
    let open: @Sendable (URL) -> Void

    /// The authorization server.
    private let id = MockOAuth2Server()
    private let service: LoopbackServer
    private let client: NetworkClient

    init(_ open: @escaping @Sendable (URL) -> Void) throws {
      self.open = open
      service = try LoopbackServer { [id] request in
        if let response = id.response(to: request) { return response }
        guard request.path == "/v1/orders" else { return .status(404) }
        let value = (request.headers["Authorization"] ?? "").split(separator: " ").last.map(String.init) ?? ""
        guard id.accepts(AccessToken(value)) else {
          return LoopbackResponse.status(401).header("WWW-Authenticate", "Bearer error=\"invalid_token\"")
        }
        return .json(#"["milk","tea"]"#)
      }
      client = NetworkClient(baseURL: service.baseURL.appending(path: "v1"), behaviors: [WireLog()])
    }

    func run() async throws {
      heading("The server says where its endpoints are")
      let issuer = "http://127.0.0.1:\(service.port)"
      let endpoint = TokenEndpoint(try await OAuth2Server.discover(issuer, over: client), clientID: "quick-start")
      let session = TokenSession(source: .refreshToken(endpoint))
      let api = client.with { $0.behaviors.append(.tokenAuth(session)) }
      let grant = try await signIn(session, endpoint)
      try await request(with: grant.token, api)
      let newer = try await refresh(grant.token, api)
      try await replay(grant.token, newer, endpoint)
      try await signOut(session, endpoint, api)
      await client.shutdown()
    }

    private func signIn(_ session: TokenSession, _ endpoint: TokenEndpoint) async throws -> OAuth2Grant {
      heading("You decide in your browser, which brings the code to this program")
      let loopback = try LoopbackRedirect(path: "/signed-in")
      let flow = OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: loopback.url, scopes: ["orders.read"], over: client)
      let grant = try await flow.signIn { url in
        print("  Open this link, and press a button:\n\n  \(url)\n")
        // A pipe gets lines only when its buffer is full.
        fflush(nil)
        open(url)
        return try await loopback.callback(for: url)
      }
      print("\n  signed in, for: \(grant.scopes.sorted().joined(separator: " "))")
      try Complaint.unless(try await session.isSignedIn(), "the session is signed in")
      return grant
    }

    private func request(with token: AccessToken, _ api: NetworkClient) async throws {
      heading("Requests carry the token")
      let orders: [String] = try await api.send(.get("orders"))
      print("\n  orders: \(orders)")
      try Complaint.unless(id.accepts(token), "the server accepts the token")
    }

    /// Returns the refresh token that replaced that of a token.
    private func refresh(_ token: AccessToken, _ api: NetworkClient) async throws -> AccessToken {
      heading("A token that has expired is refreshed, and the request sent again")
      id.expireAccessTokens()
      let orders: [String] = try await api.send(.get("orders"))
      print("\n  orders: \(orders)")
      let sent = service.requests.last { $0.path == "/v1/orders" }?.headers["Authorization"]?.split(separator: " ")
      let newer = AccessToken(sent?.last.map(String.init) ?? "")
      try Complaint.unless(newer.value != token.value, "the request was sent with a newer token")
      try Complaint.unless(id.reuseCount == 0, "no refresh token was spent twice")
      return newer
    }

    private func replay(_ token: AccessToken, _ newer: AccessToken, _ endpoint: TokenEndpoint) async throws {
      heading("A replayed refresh token is refused, and ends the sign-in at the server")
      do {
        _ = try await RefreshTokenGrant(endpoint).refresh(token, using: client)
        throw Complaint("the server took a refresh token twice")
      } catch let error as NetworkError {
        print("\n  \(error)")
        try Complaint.unless(error.oauth2?.code == .invalidGrant, "the server named the refresh token as the reason")
      }
      try Complaint.unless(id.reuseCount == 1, "the server saw the replay")
      try Complaint.unless(!id.accepts(newer), "the newest token is of no use to the thief")
    }

    private func signOut(_ session: TokenSession, _ endpoint: TokenEndpoint, _ api: NetworkClient) async throws {
      heading("A sign-out forgets the token first, and then has the server revoke it")
      try await session.signOut { token in try await endpoint.revoke(token, over: client) }
      try Complaint.unless(service.requests.last?.path == "/revoke", "the server was asked to revoke the token")
      do {
        try await api.send(.get("orders"))
        throw Complaint("a request was sent after the sign-out")
      } catch let error as NetworkError where error.code == .notSignedIn {
        print("\n  \(error)")
      }
    }
  }

  extension SignInTour {
    /// Opens the system's browser; without one, the printed link is left.
    static func openBrowser(_ url: URL) {
      #if os(macOS)
        let command = "open"
      #else
        let command = "xdg-open"
      #endif
      let browser = Process()
      browser.executableURL = URL(filePath: "/usr/bin/\(command)")
      // The link is one argument, and no shell reads it.
      browser.arguments = [url.absoluteString]
      (browser.standardInput, browser.standardOutput, browser.standardError) =
        (FileHandle.nullDevice, FileHandle.nullDevice, FileHandle.nullDevice)
      try? browser.run()
    }
  }
#endif
