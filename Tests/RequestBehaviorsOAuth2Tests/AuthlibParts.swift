import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// A server of authlib, and the parts of its clients.
  struct AuthlibParts {
    static let secret = "s:cr=t+of at least 32 octets, here"

    private static let count = Locked(0)

    /// The end of the names of this test's users: tests share the server, and each has users of its own.
    let group: String
    let client: NetworkClient
    let server: OAuth2Server

    init(_ clock: RequestClock = .system) async throws {
      let service = try await AuthlibServer.running()
      group = AuthlibParts.count.withLock { count in
        count += 1
        return "-\(count)"
      }
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

    func flow(_ session: TokenSession, _ endpoint: TokenEndpoint, over other: NetworkClient? = nil) -> OAuth2Flow {
      OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, scopes: ["read"],
        over: other ?? client)
    }

    /// Makes the access tokens of this test's users of no use.
    func expire() async throws { try await client.send(.post("expire", body: .form(["group": group]))) }

    /// The number of codes and refresh tokens of this test's users that came twice.
    func reused() async throws -> String {
      try await client.send(.get("reused", query: ["group": group]))
    }

    /// Decides for the user of a device code.
    func decide(_ code: OAuth2DeviceCode, as user: String) async throws {
      try await client.send(.post("decide", body: .form(["user_code": code.userCode, "user": user])))
    }

    /// Whether a token or its refresh token is of use.
    func isLive(_ token: AccessToken) async throws -> Bool {
      let texts = [token.value, token.refreshToken].compactMap(\.self)
      return try await client.send(Request<String>.post("live", body: .form(["token": texts]))) == "True"
    }

    /// The key of the client with assertions, which signs at the server.
    func key() async throws -> SigningKey { try await key([:]) }

    /// A key for the proofs of this test's users, which signs at the server; its nonces are no other test's.
    func proofKey() async throws -> SigningKey { try await key(["group": group]) }

    private func key(_ query: Query) async throws -> SigningKey {
      let publicKey = try PublicKey(json: try await client.send(.get("key", query: query)))
      return SigningKey("ES256", publicKey: publicKey) { [client] bytes in
        Array(try await client.send(Request<Data>.post("sign", body: .data(Data(bytes)), query: query)))
      }
    }

    /// The authentication with which a client is registered.
    static func authentication(_ clientID: String, key: SigningKey) -> ClientAuthentication {
      switch clientID {
      case "ba:sic": .basic(AuthlibParts.secret)
      case "post": .post(AuthlibParts.secret)
      case "jwt": .privateKeyJWT(key)
      case "hmac": .clientSecretJWT(AuthlibParts.secret)
      default: .none
      }
    }
  }
#endif
