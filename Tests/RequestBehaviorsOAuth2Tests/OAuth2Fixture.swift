import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting

/// A session, a server of the mock, and a flow over it.
struct OAuth2Fixture {
  static let issuer = "https://id.example"
  static let redirect = url("com.example.shop:/signed-in")

  let mock = MockTransport(baseURL: url("https://id.example/"))
  let clock = ManualClock()
  let store = InMemoryTokenStore()
  let session: TokenSession
  let client: NetworkClient
  var server: OAuth2Server

  init(issuer: String? = OAuth2Fixture.issuer, announcesIssuer: Bool = false, requiresPush: Bool = false) {
    server = OAuth2Server(
      issuer: issuer, authorize: url("https://id.example/authorize"), token: url("https://id.example/token"),
      revoke: url("https://id.example/revoke"), deviceAuthorization: url("https://id.example/device"),
      push: url("https://id.example/push"), announcesIssuer: announcesIssuer, requiresPush: requiresPush)
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    client = NetworkClient(configuration: configuration, transport: mock)
    let endpoint = TokenEndpoint(server, clientID: "shop-ios")
    session = TokenSession(source: .refreshToken(endpoint), store: store, clock: clock.requestClock)
  }

  func endpoint(_ authentication: ClientAuthentication = .none, dpop: DPoPKey? = nil) -> TokenEndpoint {
    TokenEndpoint(server, clientID: "shop-ios", authentication: authentication, dpop: dpop)
  }

  func flow(
    redirect: URL = OAuth2Fixture.redirect, scopes: [String] = [], dpop: DPoPKey? = nil,
    authentication: ClientAuthentication = .none, resources: [URL] = []
  ) -> OAuth2Flow {
    OAuth2Flow(
      session: session, endpoint: endpoint(authentication, dpop: dpop), redirectURI: redirect, scopes: scopes,
      resources: resources, over: client)
  }

  var device: OAuth2DeviceFlow {
    OAuth2DeviceFlow(session: session, endpoint: endpoint(), scopes: ["orders.read"], over: client)
  }

  /// Responds to the next token request.
  @discardableResult
  func respond(_ status: Int = 200, _ text: String = OAuth2Fixture.token, type: String = "application/json") -> MockStub
  {
    mock.on(.post, "token").respond(status, headers: ["Content-Type": type], body: Data(text.utf8)).times(1)
  }

  static let token = #"{"access_token":"A","token_type":"bearer","refresh_token":"R","scope":"orders.read","team":7}"#

  var isSignedIn: Bool { get async throws { try await session.isSignedIn() } }
}

func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: text) }

/// Returns the redirect URI of a page with parameters of a callback.
func callback(to page: URL, _ parameters: String, state: Bool = true) -> URL {
  let query = Dictionary(items(of: page)) { first, _ in first }
  let redirect = query["redirect_uri"] ?? ""
  let joint = redirect.contains("?") ? "&" : "?"
  let own = state ? "&state=" + (query["state"] ?? "") : ""
  return url(redirect + joint + parameters + own)
}

/// The items of a URL's query, in order.
func items(of url: URL) -> [(String, String)] {
  (URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
}

/// Returns the code of the error that work throws; `nil` if it throws none or another.
func errorCode(_ work: () async throws -> Void) async -> NetworkError.Code? {
  do {
    try await work()
    return nil
  } catch {
    return (error as? NetworkError)?.code
  }
}

/// A signer whose signatures are not checked.
func signer(_ algorithm: String = "ES256", length: Int = 64, keyID: String? = "k1") -> SigningKey {
  SigningKey(algorithm, keyID: keyID, publicKey: .ec(x: [UInt8](1...32), y: [UInt8](33...64))) { _ in
    [UInt8](repeating: 7, count: length)
  }
}

/// Returns the members of a part of a token.
func part(_ index: Int, of token: String?) -> [String: Any] {
  var text = (token ?? "").split(separator: ".").dropFirst(index).first.map(String.init) ?? ""
  text = text.replacing("-", with: "+").replacing("_", with: "/")
  text += String(repeating: "=", count: (4 - text.count % 4) % 4)
  let object = Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) }
  return object as? [String: Any] ?? [:]
}
