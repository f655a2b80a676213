import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct BasicAuthTests {
  private func value(_ user: String, _ password: String) async throws -> String? {
    let transport = ClosureTransport(200)
    try await NetworkClient(transport, [.basicAuth(user: user, password: password)]).send(.get("a"))
    let field = transport.sent.first?.headers.field(named: "Authorization")
    #expect(field?.sensitivity == .baseURL)
    return field?.value
  }

  // RFC 7617 §2 and §2.1, the examples.
  @Test func `user and password are sent in UTF-8`() async throws {
    #expect(try await value("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    #expect(try await value("test", "123£") == "Basic dGVzdDoxMjPCow==")
    #expect(try await value("", "a:b") == "Basic OmE6Yg==")
  }

  @Test(arguments: [("a:b", "c"), ("a\n", "c"), ("a", "c\u{0}"), ("a", "\u{7F}")])
  func `a colon in the user name, or a control character, is an error`(user: String, password: String) async throws {
    let error = try await #require(throws: NetworkError.self) { try await value(user, password) }
    #expect(error.code == .invalidRequest)
    #expect(error.message.contains("RFC 7617"))
  }

  @Test func `the password is sent only to the base URL's origin, and only if the request wants it`() async throws {
    let transport = ClosureTransport(200)
    let session = TokenSession(name: "user", source: .closure { _ in AccessToken("t") })
    let token = TokenAuthBehavior(session, header: .field("X-Token"))
    let client = NetworkClient(transport, [.basicAuth(user: "u", password: "p"), token])
    try await client.send(.get(url: try #require(URL(string: "https://other.example/a"))))
    try await client.send(.get("a").with(\.authentication, .none))
    try await client.send(.get("a").with(\.authentication, .only("user")))
    #expect(transport.sent.allSatisfy { !$0.headers.contains("Authorization") })
  }

  @Test func `descriptions do not show the password`() throws {
    var text = ""
    dump(BasicAuthBehavior(user: "user-7731", password: "canary-7732"), to: &text)
    #expect(!text.contains("canary"))
    #expect(!text.contains("7731"))
  }
}
