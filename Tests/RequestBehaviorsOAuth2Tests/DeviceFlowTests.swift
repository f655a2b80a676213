import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// Sign-in on another device (RFC 8628).
@Suite(.limited) struct DeviceFlowTests {
  private let fixture = OAuth2Fixture()
  private static let codes = #"""
    {"device_code":"D","user_code":"WDJB-MJHT","verification_uri":"https://id.example/device",
    "verification_uri_complete":"https://id.example/device?user_code=WDJB-MJHT","expires_in":600,"interval":7}
    """#

  private func begin(_ codes: String = DeviceFlowTests.codes) {
    fixture.mock.on(.post, "device").respond(200, jsonText: codes)
  }

  /// Responds to the polls in turn.
  private func polls(_ answers: (Int, String)...) {
    for (status, text) in answers {
      fixture.mock.on(.post, "token").respond(status, jsonText: text.hasPrefix("{") ? text : #"{"error":"\#(text)"}"#)
        .times(1)
    }
  }

  /// Runs a sign-in, moving the clock by a wait.
  private func run(_ wait: Int) async throws -> OAuth2Grant {
    let task = Task { try await fixture.device.signIn { _ in } }
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(wait))
    return try await task.value
  }

  @Test func `the codes are shown, and asking ends in a token`() async throws {
    begin()
    polls((400, "authorization_pending"), (400, "slow_down"), (200, OAuth2Fixture.token))
    let codes = try await fixture.device.begin()
    #expect(codes.userCode == "WDJB-MJHT")
    #expect(codes.page == url("https://id.example/device"))
    #expect(codes.pageWithCode == url("https://id.example/device?user_code=WDJB-MJHT"))
    let task = Task { try await fixture.device.finish(codes) }
    for (number, wait) in [7, 7, 12].enumerated() {
      await fixture.clock.waitForSleepers(1)
      #expect(fixture.mock.sent.count == number + 1)
      fixture.clock.advance(by: .seconds(wait) - .milliseconds(1))
      #expect(fixture.mock.sent.count == number + 1)
      fixture.clock.advance(by: .milliseconds(1))
      _ = await fixture.mock.waitForRequests(number + 2)
    }
    #expect(try await task.value.token.value == "A")
    #expect(try await fixture.isSignedIn)
    #expect(
      try fixture.mock.sent[1].form.items.map(\.value)
        == ["urn:ietf:params:oauth:grant-type:device_code", "D", "shop-ios"])
  }

  @Test(arguments: [
    ("access_denied", NetworkError.Code.oauth2Denied), ("expired_token", .oauth2Expired),
    ("invalid_client", .oauth2Refused), ("my_own", .oauth2Refused),
  ])
  func `a refusal ends the sign-in`(word: String, expected: NetworkError.Code) async throws {
    begin()
    polls((400, word))
    #expect(await errorCode { _ = try await run(7) } == expected)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `a portal between the polls does not end the sign-in`() async throws {
    begin()
    fixture.mock.on(.post, "token").respond(200, headers: ["Content-Type": "text/html"], body: Data("<html>".utf8))
      .times(1)
    for code in [NetworkError.Code.timedOut, .tlsFailed] { fixture.mock.on(.post, "token").fail(code).times(1) }
    fixture.mock.on(.post, "token").respond(503, headers: ["Retry-After": "100"]).times(1)
    polls((200, OAuth2Fixture.token))
    let task = Task { try await fixture.device.signIn { _ in } }
    for (number, wait) in [7, 14, 28, 56, 100].enumerated() {
      await fixture.clock.waitForSleepers(1)
      fixture.clock.advance(by: .seconds(wait))
      _ = await fixture.mock.waitForRequests(number + 2)
    }
    #expect(try await task.value.token.value == "A")
  }

  @Test(arguments: [
    (302, #"{"error":"access_denied"}"#), (307, "{}"), (303, #"{"access_token":"X"}"#), (408, #"{"message":"slow"}"#),
    (403, #"{"error":"temporarily_unavailable"}"#),
  ])
  func `a redirect or a passing trouble does not end the sign-in`(status: Int, body: String) async throws {
    begin()
    polls((status, body), (200, OAuth2Fixture.token))
    let grant = try await fixture.clock.run { try await fixture.device.signIn { _ in } }
    #expect(grant.token.value == "A")
    #expect(fixture.mock.sent.count == 3)
  }

  @Test func `a refusal that is not known to come from the server does not end the sign-in`() async throws {
    begin()
    polls((400, "access_denied"), (200, OAuth2Fixture.token))
    let client = fixture.client.with { configuration in
      configuration.behaviors.append(
        ClosureBehavior("doubt", order: .verification) { request, next in
          var response = try await next(request)
          if response.statusCode == 400 { response.isVerified = false }
          return response
        })
    }
    let flow = OAuth2DeviceFlow(session: fixture.session, endpoint: fixture.endpoint(), over: client)
    let grant = try await fixture.clock.run { try await flow.signIn { _ in } }
    #expect(grant.token.value == "A")
  }

  @Test func `behaviors of the client do not change the polling`() async throws {
    begin()
    polls((400, "authorization_pending"), (503, "server_error"), (200, OAuth2Fixture.token))
    let client = fixture.client.with {
      $0.behaviors += [
        .mapError { _ in CocoaError(.userCancelled) }, .retry(), .hedging(after: .milliseconds(1)), .coalescing(),
      ]
    }
    let flow = OAuth2DeviceFlow(session: fixture.session, endpoint: fixture.endpoint(), over: client)
    let grant = try await fixture.clock.run { try await flow.signIn { _ in } }
    #expect(grant.token.value == "A")
    #expect(fixture.mock.sent.count == 4)
  }

  @Test func `a clock that is set forward or back during the wait does not change a wait`() async throws {
    begin()
    polls((400, "authorization_pending"), (200, OAuth2Fixture.token))
    let task = Task { try await fixture.device.signIn { _ in } }
    for (number, jump) in [-86_400.0, 86_400].enumerated() {
      await fixture.clock.waitForSleepers(1)
      fixture.clock.setDate(fixture.clock.date.addingTimeInterval(jump))
      fixture.clock.advance(by: .seconds(7))
      _ = await fixture.mock.waitForRequests(number + 2)
    }
    #expect(try await task.value.token.value == "A")
  }

  @Test func `a clock that is set forward while the code is shown does not expire the code`() async throws {
    begin()
    polls((200, OAuth2Fixture.token), (200, OAuth2Fixture.token))
    let clock = fixture.clock
    let grant = try await clock.run {
      try await fixture.device.signIn { _ in clock.setDate(clock.date.addingTimeInterval(86_400 * 365)) }
    }
    #expect(grant.token.value == "A")
    let named = try await clock.run {
      try await fixture.device.signIn { _ in
        clock.setDate(clock.date.addingTimeInterval(86_400 * 365))
      } naming: { _ in
        "u"
      }
    }
    #expect(named.token.value == "A")
  }

  @Test func `a clock that is set back while the code is shown does not make the code last longer`() async throws {
    begin()
    let clock = fixture.clock
    let code = await errorCode {
      _ = try await clock.run {
        try await fixture.device.signIn { _ in
          clock.advance(by: .seconds(599))
          clock.setDate(clock.date.addingTimeInterval(-86_400))
        }
      }
    }
    #expect(code == .oauth2Expired)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `codes expire without another request`() async throws {
    begin(
      #"{"device_code":"D","user_code":"W","verification_url":"https://id.example/device","expires_in":12,"interval":5}"#
    )
    polls((400, "authorization_pending"), (400, "authorization_pending"))
    let task = Task { try await fixture.device.signIn { _ in } }
    for wait in [5, 5, 2] {
      await fixture.clock.waitForSleepers(1)
      fixture.clock.advance(by: .seconds(wait))
    }
    #expect(await errorCode { _ = try await task.value } == .oauth2Expired)
    #expect(fixture.mock.sent.count == 3)
  }

  @Test func `a cancellation ends the wait at once`() async throws {
    begin()
    let task = Task { try await fixture.device.signIn { _ in } }
    await fixture.clock.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `codes remain valid after the tool ends`() async throws {
    begin()
    polls((200, OAuth2Fixture.token))
    let codes = try await fixture.device.begin()
    let kept = try JSONEncoder().encode(codes)
    let restored = try JSONDecoder().decode(OAuth2DeviceCode.self, from: kept)
    let task = Task { try await fixture.device.finish(restored) }
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(7))
    #expect(try await task.value.scopes == ["orders.read"])
  }

  @Test(arguments: [
    #"{"user_code":"W","verification_uri":"https://id.example/d"}"#,
    #"{"device_code":"D","verification_uri":"https://id.example/d"}"#,
    #"{"device_code":"D","user_code":"W"}"#, "[]", "<html>",
    #"{"device_code":"D","user_code":"W\u001b[2J","verification_uri":"https://id.example/d"}"#,
    #"{"device_code":"D","user_code":"W","verification_uri":"javascript:alert(1)"}"#,
    #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d","expires_in":0}"#,
    #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d","expires_in":"soon"}"#,
  ])
  func `a response that breaks a rule is refused`(codes: String) async throws {
    begin(codes)
    #expect(await errorCode { _ = try await fixture.device.begin() } == .oauth2InvalidResponse)
  }

  @Test func `the error for a server without a device endpoint names the server`() async throws {
    var fixture = fixture
    fixture.server.deviceAuthorization = nil
    let device = fixture.device
    #expect(await errorCode { _ = try await device.begin() } == .oauth2InvalidServer)
  }
}
