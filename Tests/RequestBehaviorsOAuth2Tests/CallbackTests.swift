import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviorsOAuth2

/// Which URLs are the callback of a sign-in, and what they say (RFC 6749 §4.1.2, RFC 9207).
@Suite(.limited) struct CallbackTests {
  private static func signIn(
    _ redirect: String = "https://app.example/done?tab=1", issuer: String? = "https://id.example",
    announces: Bool = false
  ) -> OAuth2SignIn {
    OAuth2SignIn(
      url: url("https://id.example/authorize"), redirectURI: url(redirect), scopes: [], date: Date(), state: "S+1",
      verifier: "v", nonce: nil,
      server: OAuth2Server(issuer: issuer, token: url("https://id.example/token"), announcesIssuer: announces),
      clientID: "shop", keyThumbprint: nil)
  }

  private func kind(_ outcome: OAuth2Callback.Outcome) -> String {
    switch outcome {
    case .code(let code): "code \(code)"
    case .unexpected: "unexpected"
    case .invalid: "invalid"
    case .refused(let problem): "refused \(problem.code)"
    }
  }

  static let table: [(String, String)] = [
    ("https://app.example/done?tab=1&code=abc&state=S%2B1", "code abc"),
    ("HTTPS://APP.example:443/done?code=abc&state=S%2b1&tab=1", "code abc"),
    ("https://app.example/done?tab=1&code=a+b%20c&state=S%2B1&extra=1&extra=2", "code a b c"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1#_=_", "code abc"),
    ("https://app.example/done?tab=1&code=abc&code=&state=S%2B1", "code abc"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&iss=https://id.example", "code abc"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&iss=", "code abc"),
    // a. Another address.
    ("https://app.example/done/?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("https://app.example/DONE?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("https://app.example:8443/done?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("http://app.example/done?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("https://app.example.evil/done?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("https://me@app.example/done?tab=1&code=abc&state=S%2B1", "unexpected"),
    ("https://app.example/done?code=abc&state=S%2B1", "unexpected"),
    // b. Another state, for errors too.
    ("https://app.example/done?tab=1&code=abc", "unexpected"),
    ("https://app.example/done?tab=1&error=access_denied", "unexpected"),
    ("https://app.example/done?tab=1&error=access_denied&state=s%2B1", "unexpected"),
    ("https://app.example/done?tab=1&code=abc&state=S+1", "unexpected"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&state=S%2B1", "unexpected"),
    ("https://app.example/done?tab=1&code=abc&state=S%2", "unexpected"),
    ("https://app.example/done?tab=1&code=abc&State=S%2B1", "unexpected"),
    // c. Parameters of other flows, or twice.
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&access_token=x", "invalid"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1#access_token=x", "invalid"),
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&id_token=x", "invalid"),
    ("https://app.example/done?tab=1&state=S%2B1&response=x", "invalid"),
    ("https://app.example/done?tab=1&code=abc&code=abc&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&error=a&error=b&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&code=%ff&state=S%2B1", "invalid"),
    // d. Another issuer, for errors too.
    ("https://app.example/done?tab=1&code=abc&state=S%2B1&iss=https://id.example/", "invalid"),
    ("https://app.example/done?tab=1&error=access_denied&state=S%2B1&iss=https://evil.example", "invalid"),
    // e. The outcome.
    ("https://app.example/done?tab=1&error=access_denied&state=S%2B1", "refused access_denied"),
    ("https://app.example/done?tab=1&error=my+own&state=S%2B1", "refused my own"),
    ("https://app.example/done?tab=1&error=access_denied&code=abc&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&error=%0a&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&error=a%22b&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&code=&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&code=%00&state=S%2B1", "invalid"),
    ("https://app.example/done?tab=1&Code=abc&state=S%2B1", "invalid"),
  ]
  @Test(arguments: table) func `a callback is read by the rules`(text: String, expected: String) {
    #expect(kind(OAuth2Callback.read(url(text), for: Self.signIn())) == expected)
  }

  @Test func `a server that announces iss must send it`() {
    let signIn = Self.signIn(announces: true)
    let without = url("https://app.example/done?tab=1&code=abc&state=S%2B1")
    #expect(kind(OAuth2Callback.read(without, for: signIn)) == "invalid")
    let with = url("https://app.example/done?tab=1&code=abc&state=S%2B1&iss=https%3A%2F%2Fid.example")
    #expect(kind(OAuth2Callback.read(with, for: signIn)) == "code abc")
  }

  @Test func `an iss is ignored where no issuer is known`() {
    let found = url("https://app.example/done?tab=1&code=abc&state=S%2B1&iss=https%3A%2F%2Fid.example")
    #expect(kind(OAuth2Callback.read(found, for: Self.signIn(issuer: nil, announces: true))) == "code abc")
  }

  @Test(arguments: [
    ("com.example.shop:/signed-in", "com.example.shop:/signed-in?code=abc&state=S%2B1"),
    ("com.example.shop:/signed-in", "COM.example.shop:/signed-in?code=abc&state=S%2B1"),
    ("shop://signed-in", "shop://signed-in?code=abc&state=S%2B1"),
    ("shop://signed-in", "shop://signed-in/?code=abc&state=S%2B1"),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080/?code=abc&state=S%2B1"),
  ])
  func `private schemes and loopback addresses are read`(redirect: String, found: String) {
    #expect(kind(OAuth2Callback.read(url(found), for: Self.signIn(redirect))) == "code abc")
  }

  @Test func `the reason names a slash at the end of the redirect URI`() {
    let found = url("https://app.example/done/?tab=1&code=abc&state=S%2B1")
    guard case .unexpected(let reason) = OAuth2Callback.read(found, for: Self.signIn()) else {
      Issue.record("it was expected")
      return
    }
    #expect(reason.contains("slash at the end"))
  }

  @Test func `a callback with any of ten thousand other states is not accepted for the sign-in`() {
    let signIn = Self.signIn("https://app.example/done")
    let taken = (0..<10_000).filter {
      let outcome = OAuth2Callback.read(url("https://app.example/done?code=abc&state=\($0)"), for: signIn)
      return kind(outcome) != "unexpected"
    }
    #expect(taken.isEmpty)
  }

  @Test func `of 10_000 random callbacks only those with the state end the sign-in`() {
    var random = SeededGenerator(seed: 31)
    let pieces = [
      "code=abc", "state=S%2B1", "state=x", "error=access_denied", "iss=https://id.example", "iss=x", "tab=1", "&", "?",
      "#", "%", "%2", "%ff", "=", "access_token=t", "id_token=t", "response=r", "code", "+", "code=%00", "é", "[]=1",
      "error_description=" + String(repeating: "x", count: 600), "error_uri=javascript:1", "state=S+1", "State=S%2B1",
    ]
    var counts: [String: Int] = [:]
    for _ in 0..<10_000 {
      let count = Int.random(in: 0...7, using: &random)
      let parts = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }
      let base = Bool.random(using: &random) ? "https://app.example/done?tab=1&" : "https://app.example/done?"
      guard let found = URL(string: base + parts.joined(separator: "&")) else { continue }
      let outcome = kind(OAuth2Callback.read(found, for: Self.signIn()))
      counts[String(outcome.prefix { $0 != " " }), default: 0] += 1
      let hasState = found.absoluteString.contains("state=S%2B1")
      #expect(outcome == "unexpected" || hasState, "\(found)")
      let isMixed = found.absoluteString.contains("iss=x") || found.absoluteString.contains("access_token")
      #expect(!outcome.hasPrefix("code") || !isMixed, "\(found)")
    }
    #expect(counts.keys.sorted() == ["code", "invalid", "refused", "unexpected"])
  }
}
