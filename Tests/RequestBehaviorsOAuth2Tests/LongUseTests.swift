import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@testable import RequestBehaviorsOAuth2

/// Parts that a program keeps for months: their memory does not grow with use.
@Suite(.limited) struct LongUseTests {
  private let fixture = OAuth2Fixture()

  private final class Reference: @unchecked Sendable {
    // Unchecked, because a weak reference is a variable; only `init` sets it.
    weak var store: InMemoryTokenStore?

    init(_ store: InMemoryTokenStore) { self.store = store }
  }

  /// Sends a request whose refresh gets a response, and returns the only reference to the store.
  private func refresh(_ status: Int, _ body: String) async throws -> Reference {
    let store = InMemoryTokenStore(AccessToken("old", expiresAt: Date(timeIntervalSince1970: 0), refreshToken: "R"))
    let session = TokenSession(source: .refreshToken(fixture.endpoint()), store: store)
    let transport = OneResponse()
    transport.response.withLock {
      $0 = RandomResponse(status: status, type: "application/json", body: Data(body.utf8), members: nil)
    }
    let client = NetworkClient(baseURL: fixture.mock.baseURL, behaviors: [.tokenAuth(session)], transport: transport)
    _ = await errorCode { try await client.send(.get("orders")) }
    return Reference(store)
  }

  @Test(arguments: [(200, OAuth2Fixture.token), (503, ""), (200, "[]"), (400, #"{"error":"invalid_grant"}"#)])
  func `a session is released with its last owner, however its last refresh ended`(
    status: Int, body: String
  ) async throws {
    let reference = try await refresh(status, body)
    // The task of the refresh may still be ending.
    while reference.store != nil { await Task.yield() }
    #expect(reference.store == nil)
  }

  @Test func `a key keeps the nonces of the 32 newest servers`() throws {
    let key = try DPoPKey(signer())
    func request(_ number: Int) -> NetworkRequest { NetworkRequest(.get, url: url("https://s\(number).example/")) }
    for number in 1...10_000 {
      key.learn(
        NetworkResponse(request: request(number), statusCode: 200, headers: ["DPoP-Nonce": "nonce-\(number)"]))
    }
    let known = (1...10_000).filter { key.nonce(for: request($0).origin) != nil }
    #expect(known == Array(9_969...10_000))
  }

  @Test func `a session remembers the sixteen newest finished sign-ins`() async throws {
    fixture.mock.on(.post, "token").respond(200, jsonText: OAuth2Fixture.token)
    let flow = fixture.flow()
    var newest: (signIn: OAuth2SignIn, callback: URL)?
    for _ in 1...40 {
      let signIn = try await flow.begin()
      let found = callback(to: signIn.url, "code=abc")
      try await flow.finish(signIn, callback: found)
      newest = (signIn, found)
    }
    #expect(fixture.session.finishedSignIns.withLock { $0.count } == 16)
    let last = try #require(newest)
    #expect(await errorCode { try await flow.finish(last.signIn, callback: last.callback) } == .oauth2AlreadyFinished)
  }

  @Test func `a listener keeps no connection, thread or descriptor of a finished sign-in`() async throws {
    func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count }
    let browser = NetworkClient(baseURL: url("https://unused.example"))
    let before = try count()
    for number in 1...60 {
      let loopback = try LoopbackRedirect()
      let callback = url("\(loopback.url.absoluteString)?code=1&state=S\(number)")
      _ = try await browser.send(Request<NetworkResponse>.get(url: callback).with(\.acceptableStatuses, .all))
      _ = try await loopback.callback(for: url("https://id.example/authorize?state=S\(number)"))
    }
    // Each listener has three descriptors, and tests beside this one have some of their own.
    while try count() > before + 100 { await Task.yield() }
    #expect(try count() <= before + 100)
  }
}
