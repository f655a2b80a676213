import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// A server of authlib, and the parts of its clients.
  struct AuthlibParts {
    static let secret = "s:cr=t+of at least 32 octets, here"

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

    func flow(_ session: TokenSession, _ endpoint: TokenEndpoint, over other: NetworkClient? = nil) -> OAuth2Flow {
      OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, scopes: ["read"],
        over: other ?? client)
    }

    /// Makes all access tokens of no use.
    func expire() async throws { try await client.send(.post("expire")) }

    /// The number of codes and refresh tokens that came twice.
    func reused() async throws -> String { try await client.send(.get("reused")) }

    /// Decides for the user of a device code.
    func decide(_ code: OAuth2DeviceCode, as user: String) async throws {
      try await client.send(.post("decide", body: .form(["user_code": code.userCode, "user": user])))
    }

    /// Whether a token or its refresh token is of use.
    func isLive(_ token: AccessToken) async throws -> Bool {
      let texts = [token.value, token.refreshToken].compactMap(\.self)
      return try await client.send(Request<String>.post("live", body: .form(["token": texts]))) == "True"
    }

    /// A key of the server's, which signs there.
    func key() async throws -> SigningKey {
      let publicKey = try PublicKey(json: try await client.send(.get("key")))
      return SigningKey("ES256", publicKey: publicKey) { [client] bytes in
        Array(try await client.send(Request<Data>.post("sign", body: .data(Data(bytes)))))
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
