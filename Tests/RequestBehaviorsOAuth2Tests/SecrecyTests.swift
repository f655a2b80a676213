import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@testable import RequestBehaviorsOAuth2

private struct Sink: LogSink {
  let log: Locked<[String]>

  func log(_ record: LogRecord) { log.withLock { $0.append("\(record)") } }
}

/// No code, state, verifier, token or assertion is shown by a log, an error, a command or a dump.
@Suite(.limited) struct SecrecyTests {
  private let fixture = OAuth2Fixture(requiresPush: true)
  private let log = Locked<[String]>([])

  private var client: NetworkClient {
    fixture.client.with {
      $0.behaviors.append(.logging(Sink(log: log), level: .debug, headers: true, bodyLimit: 4_096))
    }
  }

  private static let secrets = [
    "CANARY-CODE-4711", "CANARY-ACCESS-1", "CANARY-REFRESH-2", "CANARY-DEVICE-3", "CANARY-USER-4", "CANARY-URI-5",
    "CANARY-SECRET-6-of-at-least-32-octets", "CANARY-COMPLETE-7",
  ]

  private func check(_ text: String, _ more: [String] = [], _ place: String) {
    for secret in Self.secrets + more where text.contains(secret) { Issue.record("\(place) shows \(secret): \(text)") }
  }

  @Test func `half a secret at the end of the details is hidden`() throws {
    let secret = "CANARY-SECRET-6-of-at-least-32-octets"
    let details = String(repeating: "x ", count: 120) + secret
    let request = NetworkRequest(
      .post, url: URL(string: "https://id.example.com/token")!,
      body: .data(Data("client_secret=\(secret)".utf8), contentType: "application/x-www-form-urlencoded"))
    let response = NetworkResponse(
      request: request, statusCode: 400, headers: ["Content-Type": "application/json"],
      body: .data(Data(#"{"error":"invalid_client","error_description":"\#(details)"}"#.utf8)))
    let problem = try #require(NetworkError(.unacceptableStatus, "refused", response: response).oauth2)
    #expect(problem.details?.contains("CANARY") == false)
  }

  private func flow(_ status: Int, _ token: String) -> OAuth2Flow {
    fixture.mock.on(.post, "push").respond(201, jsonText: #"{"request_uri":"CANARY-URI-5","expires_in":60}"#)
    fixture.mock.on(.post, "token").respond(status, jsonText: token)
    return OAuth2Flow(
      session: fixture.session,
      endpoint: fixture.endpoint(.clientSecretJWT("CANARY-SECRET-6-of-at-least-32-octets")),
      redirectURI: OAuth2Fixture.redirect, over: client)
  }

  @Test func `the descriptions and dumps of a sign-in do not show a secret`() async throws {
    let flow = flow(
      200, #"{"access_token":"CANARY-ACCESS-1","refresh_token":"CANARY-REFRESH-2","id_token":"CANARY-USER-4"}"#)
    let signIn = try await flow.begin()
    let more = [signIn.state, signIn.verifier]
    let found = url("com.example.shop:/signed-in?code=CANARY-CODE-4711&state=\(signIn.state)")
    let grant = try await flow.finish(signIn, callback: found)
    var dumped = ""
    dump(signIn, to: &dumped)
    dump(grant, to: &dumped)
    dump(flow.endpoint, to: &dumped)
    check("\(signIn) \(grant) \(dumped) \(String(reflecting: signIn))", more, "a description")
    check(log.withLock { $0 }.joined(separator: "\n"), more, "the log")
    for request in fixture.mock.sent { check("\(request) \(request.curlCommand())", more, "a command") }
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_grant","error_description":"code=CANARY-CODE-4711&state=x is no good"}"#),
    (400, #"{"error":"invalid_request","error_description":"refresh_token=CANARY-REFRESH-2"}"#),
    (400, #"{"error":"CANARY-CODE-4711"}"#),
    (500, #"{"access_token":"CANARY-ACCESS-1","device_code":"CANARY-DEVICE-3"}"#),
    (200, #"{"access_token":"CANARY-ACCESS-1","token_type":"mac"}"#),
    (200, #"{"access_token":"CANARY-ACCESS-1"#),
  ])
  func `an error of the exchange does not show a secret`(status: Int, body: String) async throws {
    let flow = flow(status, body)
    let signIn = try await flow.begin()
    let found = url("com.example.shop:/signed-in?code=CANARY-CODE-4711&state=\(signIn.state)")
    let error = await #expect(throws: NetworkError.self) { try await flow.finish(signIn, callback: found) }
    let shown = try #require(error)
    var dumped = ""
    dump(shown, to: &dumped)
    check("\(shown) \(shown.localizedDescription) \(dumped)", [signIn.state, signIn.verifier], "an error")
    check("\(shown.message) \(shown.oauth2?.code.rawValue ?? "")", [signIn.state, signIn.verifier], "a reason")
    check(log.withLock { $0 }.joined(separator: "\n"), [signIn.state, signIn.verifier], "the log")
  }

  /// Each looks like a secret again and again; work that grows with the square of the length would take hours.
  @Test(arguments: ["a:", "state=x&", "code=code="])
  func `a reason of a megabyte is cut`(word: String) async throws {
    let reason = String(repeating: word, count: 1_000_000 / word.utf8.count)
    let flow = flow(400, #"{"error":"invalid_grant","error_description":"\#(reason)"}"#)
    let signIn = try await flow.begin()
    let found = url("com.example.shop:/signed-in?code=CANARY-CODE-4711&state=\(signIn.state)")
    let error = await #expect(throws: NetworkError.self) { try await flow.finish(signIn, callback: found) }
    let problem = try #require(error?.oauth2)
    #expect(problem.code == .invalidGrant)
    #expect(try #require(problem.details).count <= 256)
  }

  @Test func `an error of a callback does not show a secret`() async throws {
    let flow = flow(200, OAuth2Fixture.token)
    let signIn = try await flow.begin()
    let query = "code=CANARY-CODE-4711&error=x&state=\(signIn.state)"
    for found in ["com.example.shop:/signed-in?\(query)", "com.example.shop:/other?\(query)"] {
      let error = await #expect(throws: NetworkError.self) { try await flow.finish(signIn, callback: url(found)) }
      check("\(error.map { "\($0)" } ?? "")", [signIn.state], "an error")
    }
  }

  @Test func `descriptions, dumps and logs of a device code do not show it`() async throws {
    fixture.mock.on(.post, "device").respond(
      200,
      jsonText: """
        {"device_code":"CANARY-DEVICE-3","user_code":"CANARY-USER-4","verification_uri":"https://id.example/d",
        "verification_uri_complete":"https://id.example/d?c=CANARY-COMPLETE-7"}
        """)
    let flow = OAuth2DeviceFlow(session: fixture.session, endpoint: fixture.endpoint(), over: client)
    let code = try await flow.begin()
    var dumped = ""
    dump(code, to: &dumped)
    check("\(code) \(dumped) \(String(reflecting: code))", [], "a description")
    check(log.withLock { $0 }.joined(separator: "\n"), [], "the log")
  }

  @Test func `text with a callback or a device response is redacted`() {
    let texts = [
      "com.example.shop:/signed-in?code=CANARY-CODE-4711&state=CANARY-URI-5",
      #"{"device_code":"CANARY-DEVICE-3","user_code":"CANARY-USER-4"}"#, #"{"request_uri":"CANARY-URI-5"}"#,
      #"{"verification_uri_complete":"CANARY-COMPLETE-7"}"#, "client_assertion=CANARY-ACCESS-1",
      "DPoP: CANARY-ACCESS-1", "code_verifier=CANARY-ACCESS-1&code=CANARY-CODE-4711",
    ]
    for text in texts { check(Redactor.standard.redact(text: text), [], "redacted text") }
  }
}
