import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// An authorization server that others wrote, over real connections.
  @Suite(
    .limited,
    .enabled("Python 3 with authlib and flask is not installed (pip install authlib flask)") {
      try await AuthlibServer.isAvailable()
    })
  struct AuthlibTests {
    private static let secret = "s:cr=t+of at least 32 octets, here"

    /// The parts of a client of the server.
    private struct Parts {
      let service: AuthlibServer
      let client: NetworkClient
      let server: OAuth2Server

      init(_ clock: RequestClock = .system) async throws {
        service = try await AuthlibServer()
        var configuration = RequestConfiguration(baseURL: service.baseURL)
        configuration.clock = clock
        client = NetworkClient(configuration: configuration)
        let issuer = String(service.baseURL.absoluteString.dropLast())
        server = try await OAuth2Server.discover(issuer, over: client)
      }

      /// Consents at a page, and returns the callback.
      func browse(_ page: URL) async throws -> URL {
        let request = Request<NetworkResponse>.get(url: page).with(\.redirects, .none)
          .with(\.acceptableStatuses, StatusCodes(302...302))
        return try #require(URL(string: try await client.send(request).headers["Location"] ?? ""))
      }

      func flow(_ session: TokenSession, _ endpoint: TokenEndpoint) -> OAuth2Flow {
        OAuth2Flow(
          session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, scopes: ["read"], over: client)
      }

      func expire() async throws { try await client.send(.post("expire")) }
      func reused() async throws -> String { try await client.send(.get("reused")) }

      /// A key of the server's, which signs there.
      func key() async throws -> SigningKey {
        let publicKey = try PublicKey(json: try await client.send(.get("key")))
        return SigningKey("ES256", publicKey: publicKey) { [client] bytes in
          Array(try await client.send(Request<Data>.post("sign", body: .data(Data(bytes)))))
        }
      }
    }

    @Test func `code, refresh with rotation, and revocation`() async throws {
      let parts = try await Parts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let client = parts.client.with { $0.behaviors.append(.tokenAuth(session)) }
      let grant = try await parts.flow(session, endpoint).signIn { try await parts.browse($0) }
      #expect(grant.scopes == ["read"])
      for _ in 1...3 {
        #expect(try await client.send(Request<String>.get("orders")) == "fine")
        try await parts.expire()
      }
      #expect(try await client.send(Request<String>.get("orders")) == "fine")
      #expect(try await parts.reused() == "0")
      try await session.signOut { try await endpoint.revoke($0, over: client) }
      #expect(await errorCode { _ = try await client.send(Request<String>.get("orders")) } == .notSignedIn)
    }

    @Test func `a refusal at the page is the user's`() async throws {
      let parts = try await Parts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let flow = parts.flow(session, endpoint)
      let code = await errorCode { try await flow.signIn(["login_hint": "nobody"]) { try await parts.browse($0) } }
      #expect(code == .oauth2Denied)
    }

    @Test func `a code that is exchanged with another verifier is refused`() async throws {
      let parts = try await Parts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let flow = parts.flow(TokenSession(source: .refreshToken(endpoint)), endpoint)
      let (first, second) = (try await flow.begin(), try await flow.begin())
      let found = try await parts.browse(first.url)
      let code = items(of: found).first { $0.0 == "code" }?.1 ?? ""
      let mixed = URL.callback(to: second.url, code: code)
      let error = await #expect(throws: NetworkError.self) { try await flow.finish(second, callback: mixed) }
      #expect(error?.code == .oauth2Refused)
      #expect(error?.oauth2?.code == .invalidGrant)
    }

    @Test(arguments: ["public", "ba:sic", "post", "jwt", "hmac"])
    func `a client authenticates in each way`(clientID: String) async throws {
      let parts = try await Parts()
      let authentication: ClientAuthentication =
        switch clientID {
        case "ba:sic": .basic(Self.secret)
        case "post": .post(Self.secret)
        case "jwt": .privateKeyJWT(try await parts.key())
        case "hmac": .clientSecretJWT(Self.secret)
        default: .none
        }
      let endpoint = TokenEndpoint(parts.server, clientID: clientID, authentication: authentication)
      let session = TokenSession(source: .refreshToken(endpoint))
      let grant = try await parts.flow(session, endpoint).signIn { try await parts.browse($0) }
      #expect(grant.token.refreshToken != nil)
      let newer = try await RefreshTokenGrant(endpoint).refresh(grant.token, using: parts.client)
      #expect(newer.value != grant.token.value)
    }

    @Test func `a wrong secret is named by the server`() async throws {
      let parts = try await Parts()
      let endpoint = TokenEndpoint(parts.server, clientID: "ba:sic", authentication: .basic("wrong"))
      let flow = parts.flow(TokenSession(source: .refreshToken(endpoint)), endpoint)
      let error = await #expect(throws: NetworkError.self) { try await flow.signIn { try await parts.browse($0) } }
      #expect(error?.oauth2?.code == .invalidClient)
    }

    @Test func `a device is signed in after waits`() async throws {
      let parts = try await Parts(.immediate)
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let flow = OAuth2DeviceFlow(session: session, endpoint: endpoint, scopes: ["read"], over: parts.client)
      let grant = try await flow.signIn { code in #expect(!code.userCode.isEmpty) }
      #expect(grant.scopes == ["read"])
    }

    @Test func `tokens are bound to a key, with nonces that change`() async throws {
      let parts = try await Parts()
      let dpop = try DPoPKey(try await parts.key())
      let endpoint = TokenEndpoint(parts.server, clientID: "public", dpop: dpop)
      let session = TokenSession(source: .refreshToken(endpoint))
      let client = parts.client.with { $0.behaviors += [.tokenAuth(session), .dpop(dpop)] }
      let grant = try await parts.flow(session, endpoint).signIn { try await parts.browse($0) }
      #expect(grant.token.type == "DPoP")
      for _ in 1...3 {
        #expect(try await client.send(Request<String>.get("orders")) == "fine")
        try await parts.expire()
      }
      #expect(try await client.send(Request<String>.get("orders")) == "fine")
      #expect(try await parts.reused() == "0")
    }

    @Test func `in 300 stories with portals no user is signed out, and no token is spent twice`() async throws {
      let parts = try await Parts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(
        source: .refreshToken(endpoint), policy: TokenRefreshPolicy(limit: 10_000))
      let portal = PortalBehavior(seed: 31)
      let client = parts.client.with { $0.behaviors += [.tokenAuth(session), portal] }
      try await parts.flow(session, endpoint).signIn { try await parts.browse($0) }
      var random = SeededGenerator(seed: 32)
      var counts = (fine: 0, failed: 0)
      for _ in 1...300 {
        if Int.random(in: 0..<4, using: &random) == 0 { try await parts.expire() }
        let calls = Int.random(in: 1...4, using: &random)
        let results = await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<calls {
            group.addTask { (try? await client.send(Request<String>.get("orders"))) == "fine" }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
        counts.fine += results.count { $0 }
        counts.failed += results.count { !$0 }
        #expect(try await session.isSignedIn())
      }
      #expect(counts.fine > 300)
      #expect(counts.failed > 10)
      #expect(try await parts.reused() == "0")
    }
  }

  /// A captive portal that now and then responds in place of the token endpoint.
  private struct PortalBehavior: RequestBehavior {
    let order = BehaviorOrder.last
    private let state: Locked<UInt64>

    init(seed: UInt64) { state = Locked(seed) }

    /// A number below 12, by Knuth's generator.
    private var random: UInt64 {
      state.withLock { state in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % 12
      }
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      guard request.url.path() == "/token" else { return try await next(request) }
      let page = "<html>Sign in to the network</html>"
      func response(_ status: Int, _ type: String, _ body: String) -> NetworkResponse {
        NetworkResponse(
          request: request, statusCode: status, headers: ["Content-Type": type, "Location": "http://127.0.0.1:1/"],
          body: .data(Data(body.utf8)))
      }
      switch random {
      case 0: return response(200, "text/html", page)
      case 1: return response(302, "text/html", page)
      case 2: return response(401, "text/html", page)
      case 3: return response(403, "application/json", #"{"message":"blocked"}"#)
      case 4: return response(503, "text/html", page)
      case 5: return response(200, "application/json", #"{"access_token":"#)
      case 6: throw NetworkError(.cannotConnect, "no network")
      default: return try await next(request)
      }
    }
  }
#endif
