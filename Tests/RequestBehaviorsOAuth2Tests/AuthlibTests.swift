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
    @Test func `code, refresh with rotation, and revocation`() async throws {
      let parts = try await AuthlibParts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let client = parts.client.with { $0.behaviors.append(.tokenAuth(session)) }
      let grant = try await parts.flow(session, endpoint).signIn(["login_hint": "anna\(parts.group)"]) {
        try await parts.browse($0)
      }
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
      let parts = try await AuthlibParts()
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let flow = parts.flow(session, endpoint)
      let code = await errorCode { try await flow.signIn(["login_hint": "nobody"]) { try await parts.browse($0) } }
      #expect(code == .oauth2Denied)
    }

    @Test func `a code that is exchanged with another verifier is refused`() async throws {
      let parts = try await AuthlibParts()
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
      let parts = try await AuthlibParts()
      let authentication = AuthlibParts.authentication(clientID, key: try await parts.key())
      let endpoint = TokenEndpoint(parts.server, clientID: clientID, authentication: authentication)
      let session = TokenSession(source: .refreshToken(endpoint))
      let grant = try await parts.flow(session, endpoint).signIn(["login_hint": "anna\(parts.group)"]) {
        try await parts.browse($0)
      }
      #expect(grant.token.refreshToken != nil)
      let newer = try await RefreshTokenGrant(endpoint).refresh(grant.token, using: parts.client)
      #expect(newer.value != grant.token.value)
    }

    @Test func `a wrong secret is named by the server`() async throws {
      let parts = try await AuthlibParts()
      let endpoint = TokenEndpoint(parts.server, clientID: "ba:sic", authentication: .basic("wrong"))
      let flow = parts.flow(TokenSession(source: .refreshToken(endpoint)), endpoint)
      let error = await #expect(throws: NetworkError.self) { try await flow.signIn { try await parts.browse($0) } }
      #expect(error?.oauth2?.code == .invalidClient)
    }

    @Test func `a device is signed in after waits`() async throws {
      let parts = try await AuthlibParts(.immediate)
      let endpoint = TokenEndpoint(parts.server, clientID: "public")
      let session = TokenSession(source: .refreshToken(endpoint))
      let flow = OAuth2DeviceFlow(session: session, endpoint: endpoint, scopes: ["read"], over: parts.client)
      let grant = try await flow.signIn { code in #expect(!code.userCode.isEmpty) }
      #expect(grant.scopes == ["read"])
    }

    @Test func `tokens are bound to a key, with nonces that change`() async throws {
      let parts = try await AuthlibParts()
      let dpop = try DPoPKey(try await parts.proofKey())
      let endpoint = TokenEndpoint(parts.server, clientID: "public", dpop: dpop)
      let session = TokenSession(source: .refreshToken(endpoint))
      let client = parts.client.with { $0.behaviors += [.tokenAuth(session), .dpop(dpop)] }
      let grant = try await parts.flow(session, endpoint).signIn(["login_hint": "anna\(parts.group)"]) {
        try await parts.browse($0)
      }
      #expect(grant.token.type == "DPoP")
      for _ in 1...3 {
        #expect(try await client.send(Request<String>.get("orders")) == "fine")
        try await parts.expire()
      }
      #expect(try await client.send(Request<String>.get("orders")) == "fine")
      #expect(try await parts.reused() == "0")
    }
  }
#endif
