import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Which clock a session goes by, and when its tokens expire.
@Suite(.limited) struct TokenClockTests {
  private let server = TokenServer()
  private let clock = ManualClock()

  private func client(_ session: TokenSession, _ clock: ManualClock? = nil) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session)])
    configuration.clock = (clock ?? self.clock).requestClock
    return NetworkClient(configuration: configuration, transport: server.transport)
  }

  private func session(
    _ source: any TokenSource = .clientCredentials(.test), _ store: any TokenStore = InMemoryTokenStore()
  ) -> TokenSession {
    TokenSession(source: source, store: store)
  }

  private var sentTokens: [String?] { server.apiRequests.map { $0.headers["Authorization"] } }

  @Test func `a session without a clock goes by that of its first client`() async throws {
    let session = session()
    let client = client(session)
    try await client.send(.get("a"))
    clock.advance(by: .seconds(3_539))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
    clock.advance(by: .seconds(1))
    try await client.send(.get("c"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a second client's clock does not move a session's`() async throws {
    let session = session()
    let other = ManualClock()
    try await client(session).send(.get("a"))
    other.advance(by: .seconds(4_000))
    try await client(session, other).send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a token of a sign-in before the first client expires by that client's clock`() async throws {
    let session = session(.refreshToken(.test))
    server.state.update { $0.valid = "t0" }
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    let client = client(session)
    try await client.send(.get("a"))
    #expect(sentTokens == ["Bearer t0"])
    clock.advance(by: .seconds(3_541))
    try await client.send(.get("b"))
    #expect(sentTokens == ["Bearer t0", "Bearer t1"])
  }

  @Test func `the lifetime of a token without a date counts from the sign-in on another clock, too`() async throws {
    let session = session(.refreshToken(.test))
    server.state.update { $0.valid = "t0" }
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    let client = client(session)
    try await client.send(.get("a"))
    // More than this nanosecond went by on the system's clock before the first request.
    clock.advance(by: .seconds(3_540) - .nanoseconds(1))
    try await client.send(.get("b"))
    #expect(sentTokens == ["Bearer t0", "Bearer t1"])
  }

  @Test func `a date of expiry is judged by the date of the client's clock`() async throws {
    let session = session(.refreshToken(.test))
    server.state.update { $0.valid = "t0" }
    try await session.signIn(AccessToken("t0", expiresAt: clock.date + 3_600, refreshToken: "r0"))
    #expect(try await session.isSignedIn())
    let client = client(session)
    try await client.send(.get("a"))
    #expect(server.tokenRequests.isEmpty)
    clock.advance(by: .seconds(3_541))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a stored token that was read before the first client expires by that client's clock`() async throws {
    let stored = AccessToken("t0", expiresAt: clock.date + 3_600, lifetime: .seconds(3_600), refreshToken: "r0")
    let session = session(.refreshToken(.test), InMemoryTokenStore(stored))
    server.state.update { $0.valid = "t0" }
    #expect(try await session.isSignedIn())
    let client = client(session)
    try await client.send(.get("a"))
    #expect(server.tokenRequests.isEmpty)
    clock.advance(by: .seconds(3_541))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  // MARK: - Expired on arrival

  @Test(arguments: [#""expires_in":0"#, #""expires_in":-5"#, #""expires_at":1500000000"#])
  func `a token that a source gives as expired is sent until the server refuses it`(expiry: String) async throws {
    let count = Box(0)
    let session = session(
      .closure { _ in
        let number = count.update { count in
          count += 1
          return count
        }
        return try JSONDecoder().decode(
          AccessToken.self, from: Data(#"{"access_token":"t\#(number)",\#(expiry)}"#.utf8))
      })
    server.state.update { $0.valid = "t1" }
    let client = client(session)
    for _ in 0..<3 { try await client.send(.get("a")) }
    #expect(count.value == 1)
    server.state.update { $0.valid = "t2" }
    try await client.send(.get("a"))
    #expect(count.value == 2)
  }

  @Test func `a token with a lifetime of zero has an unknown expiry`() async throws {
    let store = InMemoryTokenStore()
    let session = session(.refreshToken(.test), store)
    server.state.update { $0.valid = "t0" }
    try await session.signIn(AccessToken("t0", lifetime: .zero))
    try await client(session).send(.get("a"))
    #expect(sentTokens == ["Bearer t0"])
    let next = try await self.session(.refreshToken(.test), InMemoryTokenStore(store.load()))
    try await client(next).send(.get("a"))
    #expect(sentTokens == ["Bearer t0", "Bearer t0"])
    #expect(server.tokenRequests.isEmpty)
  }

  @Test func `a token that is brought with a date of expiry in the past is refreshed before it is sent`() async throws {
    let session = session(.refreshToken(.test))
    try await session.signIn(AccessToken("t0", expiresAt: clock.date - 1, refreshToken: "r0"))
    try await client(session).send(.get("a"))
    #expect(sentTokens == ["Bearer t1"])
  }

  @Test(arguments: [100_000_000_001, 253_402_300_799, 1e12, 1e15])
  func `a token that expires in thousands of years is good after the next launch`(seconds: Double) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "token.json")
    server.state.update { $0.valid = "t0" }
    let token = AccessToken("t0", expiresAt: Date(timeIntervalSince1970: seconds))
    try await session(.signInOnly, FileTokenStore(url: file)).signIn(token)
    // The session of another path shares no memory with the first.
    let next = folder.appending(path: "next.json")
    try FileManager.default.moveItem(at: file, to: next)
    try await client(session(.signInOnly, FileTokenStore(url: next))).send(.get("a"))
    #expect(sentTokens == ["Bearer t0"])
  }

  // MARK: - Instants

  @Test func `a token has expired exactly at its date of expiry`() async throws {
    let session = TokenSession(source: .refreshToken(.test), clock: clock.requestClock)
    let client = client(session)
    server.state.update { $0.answer = { NetworkResponse(request: $0, statusCode: 200) } }
    try await session.signIn(AccessToken("t0", lifetime: .seconds(100), refreshToken: "r0"))
    clock.advance(by: .seconds(99))
    server.refuseToken(500)
    try await client.send(.get("a"))
    #expect(sentTokens == ["Bearer t0"])
    #expect(server.tokenRequests.count == 1)
    clock.advance(by: .seconds(1))
    server.refuseToken(500)
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
  }

  @Test func `the leeway of a stored token follows from its lifetime, not from the rest of it`() async throws {
    let stored = AccessToken("t0", expiresAt: clock.date + 59, lifetime: .seconds(3_600), refreshToken: "r0")
    try await client(session(.refreshToken(.test), InMemoryTokenStore(stored))).send(.get("a"))
    #expect(sentTokens == ["Bearer t1"])
  }
}
