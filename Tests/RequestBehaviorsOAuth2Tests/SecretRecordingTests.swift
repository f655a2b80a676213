import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// Recordings, cassettes and reproductions of sign-ins show no code, verifier, state, token, secret, assertion or proof.
@Suite(.limited) struct SecretRecordingTests {
  fileprivate static let clientSecret = "CANARY secret+6&of at least 32 octets"
  private static let token = #"""
    {"access_token":"CANARY-ACCESS-1","token_type":"DPoP","refresh_token":"CANARY-REFRESH-2","expires_in":3600,
    "id_token":"CANARY-ID-8"}
    """#
  private static let device = #"""
    {"device_code":"CANARY-DEVICE-3","user_code":"CANARY-USER-4","verification_uri":"https://id.example/d",
    "verification_uri_complete":"https://id.example/d?c=CANARY-COMPLETE-7","interval":1}
    """#

  private let fixture = OAuth2Fixture(requiresPush: true)
  private let recorder = CallRecorder(bodies: .upTo(65_536))
  private let folder = URL.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")

  enum Client: CaseIterable {
    case basic
    case post
    case secretJWT
    case privateKeyJWT

    var authentication: ClientAuthentication {
      switch self {
      case .basic: .basic(SecretRecordingTests.clientSecret)
      case .post: .post(SecretRecordingTests.clientSecret)
      case .secretJWT: .clientSecretJWT(SecretRecordingTests.clientSecret)
      case .privateKeyJWT: .privateKeyJWT(signer())
      }
    }
  }

  /// A client that records calls, and the transport that writes a cassette.
  private func makeClient() throws -> (NetworkClient, CassetteTransport) {
    let cassette = try CassetteMode.$environment.withValue([:]) {
      try CassetteTransport(
        "tape", mode: .recordAll, over: fixture.mock, directory: folder.path(percentEncoded: false))
    }
    var configuration = fixture.client.configuration
    configuration.clock = .immediate
    configuration.behaviors.append(.recording(recorder))
    return (NetworkClient(configuration: configuration, transport: cassette), cassette)
  }

  private func respond(_ status: Int = 200, _ token: String = SecretRecordingTests.token) {
    fixture.mock.on(.post, "push").respond(201, jsonText: #"{"request_uri":"CANARY-URI-5","expires_in":60}"#)
      .optional()
    fixture.mock.on(.post, "token").respond(status, jsonText: token)
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.device).optional()
    fixture.mock.on(.post, "revoke").respond(200).optional()
    fixture.mock.on(.get, "orders").respond(200, jsonText: #"{"fine":true}"#).optional()
  }

  /// The secrets that the requests so far have sent, in the forms in which they may be shown.
  private func sentSecrets() throws -> [String] {
    let names: Set = [
      "code", "code_verifier", "state", "client_secret", "client_assertion", "assertion", "refresh_token", "token",
      "device_code", "nonce",
    ]
    var secrets = [Self.clientSecret, "CANARY"]
    for request in fixture.mock.sent {
      let fields = request.method == .post ? try request.form.items : []
      secrets += fields.compactMap { names.contains($0.name) ? $0.value : nil }
      secrets += ["Authorization", "DPoP"].compactMap {
        request.headers[$0]?.split(separator: " ").last.map(String.init)
      }
    }
    // The claims of an assertion or proof are unique, and so are secret enough to look for alone.
    secrets += secrets.compactMap { secret in
      let parts = secret.split(separator: ".")
      return parts.count == 3 ? String(parts[1]) : nil
    }
    secrets += secrets.compactMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
    secrets += secrets.map { $0.replacing("%20", with: "+") }
    return secrets
  }

  private func check(_ text: String, _ place: String) throws {
    // The place has the requests, without their secrets.
    #expect(text.contains("token"), "\(place)")
    for secret in try sentSecrets() where text.contains(secret) {
      Issue.record("\(place) shows \(secret): \(text.prefix(20_000))")
    }
  }

  private func checkRecordings(_ cassette: CassetteTransport) async throws {
    let recording = recorder.recording
    #expect(recording.calls.count > 1)
    try check("\(recording)", "a recording")
    try check(String(decoding: recording.har(), as: UTF8.self), "an archive")
    try check(String(decoding: recording.waterfall(), as: UTF8.self), "a page")
    try cassette.save()
    let tape = try Data(contentsOf: folder.appending(path: "tape.har"))
    try check(String(decoding: tape, as: UTF8.self), "a cassette")
  }

  @Test(arguments: Client.allCases)
  func `a recording of a sign-in by code, a refresh, requests and the sign-out does not show a secret`(
    client kind: Client
  ) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    respond()
    let (client, cassette) = try makeClient()
    let dpop = try DPoPKey(signer())
    let endpoint = fixture.endpoint(kind.authentication, dpop: dpop)
    let session = TokenSession(source: .refreshToken(endpoint), clock: fixture.clock.requestClock)
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, over: client)
    // A pushed request has no state in its page.
    let signIn = try await flow.begin()
    let state = try fixture.mock.sent[0].form["state"] ?? ""
    #expect(state.count > 20)
    let found = url("\(OAuth2Fixture.redirect.absoluteString)?code=CANARY-CODE-4711&state=\(state)")
    try await flow.finish(signIn, callback: found)
    let api = client.with { $0.behaviors += [.tokenAuth(session), .dpop(dpop)] }
    try await api.send(.get("orders"))
    fixture.clock.advance(by: .seconds(7_200))
    try await api.send(.get("orders"))
    try await session.signOut { try await endpoint.revoke($0, over: client) }
    #expect(fixture.mock.sent.map { $0.url.path() } == ["/push", "/token", "/orders", "/token", "/orders", "/revoke"])
    try await checkRecordings(cassette)
  }

  @Test(arguments: Client.allCases) func `a recording of a sign-in by device does not show a secret`(
    client kind: Client
  ) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    respond(200, Self.token.replacing("DPoP", with: "Bearer"))
    let (client, cassette) = try makeClient()
    let flow = OAuth2DeviceFlow(
      session: fixture.session, endpoint: fixture.endpoint(kind.authentication), over: client)
    try await flow.signIn { _ in }
    try await checkRecordings(cassette)
  }

  @Test func `a recording of an assertion for a token does not show a secret`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    respond(200, Self.token.replacing("DPoP", with: "Bearer"))
    let (client, cassette) = try makeClient()
    let session = TokenSession(
      source: .jwtBearer(fixture.endpoint(), key: signer(), issuer: "robot"), clock: fixture.clock.requestClock)
    try await client.with { $0.behaviors.append(.tokenAuth(session)) }.send(.get("orders"))
    try await checkRecordings(cassette)
  }

  @Test(arguments: Client.allCases, [400, 500])
  func `the reproduction of a failed exchange does not show a secret`(client kind: Client, status: Int) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let word = status == 400 ? #""error":"invalid_grant","error_description":"code=CANARY-CODE-4711 is used","# : ""
    respond(status, "{\(word)" + Self.token.dropFirst())
    let (client, cassette) = try makeClient()
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(kind.authentication), redirectURI: OAuth2Fixture.redirect,
      over: client)
    let signIn = try await flow.begin()
    let state = try fixture.mock.sent[0].form["state"] ?? ""
    let found = url("\(OAuth2Fixture.redirect.absoluteString)?code=CANARY-CODE-4711&state=\(state)")
    let error = await #expect(throws: NetworkError.self) { try await flow.finish(signIn, callback: found) }
    let reproduction = try #require(error?.reproduction())
    try check(String(decoding: reproduction.har, as: UTF8.self), "the archive of a failure")
    try check(String(decoding: reproduction.waterfall, as: UTF8.self), "the page of a failure")
    try check(reproduction.test, "the test of a failure")
    if let tape = reproduction.cassette {
      try check(String(decoding: tape, as: UTF8.self), "the cassette of a failure")
    }
    try await checkRecordings(cassette)
  }
}
