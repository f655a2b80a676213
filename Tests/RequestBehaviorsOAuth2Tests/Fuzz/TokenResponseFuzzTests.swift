import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Ten thousand random responses of a token endpoint: what becomes of each is compared with the rules, written down here
/// once more.
@Suite(.limited) struct TokenResponseFuzzTests {
  static let choices: [(String, [MemberValue])] = [
    (
      "access_token", [.text("A"), .text("mF_9.B5f-4.1JqM"), .text("A"), .text("B"), .text("two words"), .text("x\ny")]
    ),
    ("token_type", [.text("Bearer"), .text("bearer"), .text("BEARER"), .text("Bearer"), .text("mac"), .text("DPoP")]),
    ("expires_in", [.number("3600"), .text("3600"), .number("0"), .number("1e300"), .number("12.5"), .text("soon")]),
    ("refresh_token", [.text("R1"), .text("R1"), .text("")]),
    ("scope", [.text("a b"), .list(["a", "b"]), .text("")]),
  ]
  static let errors: [MemberValue] = [
    .text("invalid_grant"), .text("invalid_grant"), .text("invalid_grant"), .text("invalid_grant"),
    .text("invalid_client"), .text("INVALID_GRANT"),
    .text(" invalid_grant"), .text("access_denied"), .text("expired_token"), .text("a\"b"), .null, .text(""),
    .list(["invalid_grant"]), .number("1"),
  ]

  private static func samples(_ count: Int, seed: UInt64) -> [RandomResponse] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      let isRefusal = Bool.random(using: &random)
      let statuses = isRefusal ? [400, 400, 400, 401, 403, 200, 302, 503] : [200, 200, 200, 200, 200, 201, 302, 401]
      return RandomResponse.make(
        isRefusal ? [("error", errors), ("error_description", [.text("no")]), choices[0]] : choices, statuses,
        using: &random)
    }
  }

  // MARK: - The tests

  /// Sends a request whose expired token the response is to replace, and returns what became of the session.
  private static func refresh(_ response: RandomResponse, _ client: NetworkClient) async throws -> TokenRules.Outcome? {
    let store = InMemoryTokenStore(AccessToken("old", expiresAt: Date(timeIntervalSince1970: 0), refreshToken: "R0"))
    let endpoint = TokenEndpoint(OAuth2Server(token: url("https://id.example/token")), clientID: "shop")
    let session = TokenSession(source: .refreshToken(endpoint), store: store)
    let error = await errorCode { try await client.send(Request<Void>.get("orders").with(.tokenAuth(session))) }
    switch (try await store.load(), try await session.isSignedIn(), error) {
    case (let token?, true, nil): return .token(token.value, refreshToken: token.refreshToken)
    case (nil, false, .tokenUnavailable?): return .signedOut
    case (let token?, true, .tokenUnavailable?):
      return token.value == "old" && token.refreshToken == "R0" ? .unchanged : nil
    default: return nil
    }
  }

  /// Whether the outcome of a body that readers of JSON may take for no object is one that its words allow.
  private static func isPossible(_ found: TokenRules.Outcome?, _ response: RandomResponse) -> Bool {
    let text = String(decoding: response.body, as: UTF8.self)
    return switch found {
    case .token?: text.contains("\"access_token\":\"") && (200..<300).contains(response.status)
    case .signedOut?: text.contains("\"error\":\"invalid_grant\"") && !response.isPage && response.status < 500
    case .unchanged?: true
    case nil: false
    }
  }

  @Test(arguments: 1...10)
  func `a refresh takes a valid token, and ends the session on invalid_grant only`(seed: Int) async throws {
    let server = OneResponse()
    let client = NetworkClient(baseURL: url("https://api.example/"), transport: server)
    var counts: [Substring: Int] = [:]
    var wrong: [String] = []
    for response in Self.samples(1_000, seed: UInt64(seed)) {
      server.response.withLock { $0 = response }
      var expected = TokenRules.outcome(response)
      if case .token(let value, nil) = expected { expected = .token(value, refreshToken: "R0") }
      let found = try await Self.refresh(response, client)
      counts["\(expected)".prefix { $0 != "(" }, default: 0] += 1
      let isRight = response.isDoubtful ? Self.isPossible(found, response) : found == expected
      if !isRight { wrong.append("\(String(describing: found)) for \(response)") }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
    // Each kind of outcome was met often.
    #expect(counts.count == 3)
    #expect(counts.values.allSatisfy { $0 > 30 }, "\(counts)")
  }

  @Test(arguments: 11...14)
  func `an exchange of a code signs in with a valid token only, and no response signs out`(seed: Int) async throws {
    let server = OneResponse()
    let client = NetworkClient(baseURL: url("https://api.example/"), transport: server)
    let clock = ManualClock()
    let endpoint = TokenEndpoint(
      OAuth2Server(authorize: url("https://id.example/authorize"), token: url("https://id.example/token")),
      clientID: "shop")
    var counts: [NetworkError.Code?: Int] = [:]
    var wrong: [String] = []
    for response in Self.samples(500, seed: UInt64(seed)) {
      let store = InMemoryTokenStore(AccessToken("old"))
      let session = TokenSession(source: .refreshToken(endpoint), store: store, clock: clock.requestClock)
      let flow = OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, over: client)
      server.response.withLock { $0 = response }
      let expected = TokenRules.code(response)
      let code = await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } }
      let value = try await store.load()?.value
      counts[expected, default: 0] += 1
      let isRight =
        response.isDoubtful
        || code == expected && value == (expected == nil ? response.members?["access_token"]?.asText : "old")
      if !isRight { wrong.append("\(String(describing: code)) \(value ?? "") for \(response)") }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
    #expect(counts.count == 6)
    #expect(counts.values.allSatisfy { $0 > 3 }, "\(counts)")
  }
}
