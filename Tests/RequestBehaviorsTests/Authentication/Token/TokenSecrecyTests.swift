import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct TokenSecrecyTests {
  private let canaries = ["canary-access-7731", "canary-refresh-7732", "canary-secret-7733"]
  private let output = Box<[String]>([])

  private func note(_ value: Any) {
    var dumped = ""
    dump(value, to: &dumped)
    output.update { $0 += ["\(value)", String(reflecting: value), dumped] }
  }

  private func expectNoCanary() {
    for text in output.value {
      for canary in canaries { #expect(!text.contains(canary), "\(text)") }
    }
  }

  @Test func `descriptions of a token do not show it`() {
    let token = AccessToken(canaries[0], lifetime: .seconds(60), refreshToken: canaries[1], scopes: ["read"])
    note(token)
    note([token])
    note(Optional(token) as Any)
    expectNoCanary()
    #expect("\(token)".contains("REDACTED"))
    #expect("\(token)".contains("read"))
  }

  @Test func `the error for an invalid token response does not show it`() throws {
    for answer in [
      #"{"access_token":17,"token":"canary-access-7731"}"#, #"{"a_token":"canary-access-7731","b_token":""}"#,
      #"{"access_token":"canary-access-7731","expires_in":"canary-refresh-7732"}"#,
    ] {
      do {
        note(try JSONDecoder().decode(AccessToken.self, from: Data(answer.utf8)))
      } catch { note(error) }
    }
    expectNoCanary()
  }

  @Test func `errors, events, attempts and reports do not contain a canary`() async throws {
    let (access, refresh, secret) = (canaries[0], canaries[1], canaries[2])
    let tokenBody = Box(#"{"access_token":"\#(access)","refresh_token":"\#(refresh)"}"#)
    let transport = ClosureTransport { request in
      if request.url.path().hasSuffix("token") { return TokenServer.json(request, tokenBody.value) }
      return NetworkResponse(request: request, statusCode: 401)
    }
    let session = TokenSession(
      source: .clientCredentials(TokenEndpoint("token", clientID: "app", clientSecret: secret)))
    let events = session.events
    note(session)
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.tokenAuth(session), .basicAuth(user: "u", password: secret)])
    let output = output
    configuration.behaviors.append(
      .onCallEnd { report in
        output.update { $0 += report.call.events.map(\.message) + ["\(String(describing: report.error))"] }
        output.update { $0 += report.call.attempts.map(\.description) }
      })
    let client = NetworkClient(configuration: configuration, transport: transport)
    for body in [tokenBody.value, "<html>\(access) \(refresh)</html>", #"{"token_x":"\#(access)"}"#] {
      tokenBody.value = body
      do { try await client.send(.get("a")) } catch { note(error) }
    }
    note(try client.pipeline(for: Request<Void>.get("a")).description)
    try await session.signOut()
    for await event in events {
      note(event)
      if case .signedOut(.requested) = event { break }
      if case .refreshFailed = event { break }
    }
    #expect(output.value.count > 10)
    expectNoCanary()
  }

  @Test func `an error of a transport that quotes a request for a token shows none of its secrets`() async throws {
    struct Talkative: Error, CustomStringConvertible { let description: String }
    let (access, refresh, secret) = (canaries[0], canaries[1], canaries[2])
    let transport = ClosureTransport { _ in throw Talkative(description: "sent \(refresh) with \(secret)") }
    let session = TokenSession(
      source: .refreshToken(TokenEndpoint("token", clientID: "app", clientSecret: secret)))
    try await session.signIn(AccessToken(access, lifetime: .nanoseconds(1), refreshToken: refresh))
    let lines = output
    let log = ClosureLogSink { record in lines.update { $0 += [record.line, record.json] } }
    let recorder = CallRecorder()
    let client = NetworkClient(transport, [.tokenAuth(session), .logging(log, level: .debug), .recording(recorder)])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.underlyingError is Talkative)
    #expect(error?.description.contains("sent REDACTED with REDACTED") == true)
    note(try #require(error))
    output.update { $0.append(String(decoding: recorder.recording.har(), as: UTF8.self)) }
    expectNoCanary()
  }

  @Test func `an illegal token is refused without being shown`() async throws {
    let session = TokenSession(source: .closure { _ in AccessToken("canary-access-7731\r\nX-Evil: 1") })
    let transport = ClosureTransport(200)
    do {
      try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a"))
      Issue.record("sent")
    } catch { note(error) }
    expectNoCanary()
    #expect(transport.sent.isEmpty)
  }
}
