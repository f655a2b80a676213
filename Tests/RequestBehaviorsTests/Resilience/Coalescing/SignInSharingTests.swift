import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The same account signs in again while its earlier requests are under way.
@Suite(.limited) struct SignInSharingTests {
  private let gate = TestGate()
  private let transport = ClosureTransport { request in
    let body = Data((request.headers["Authorization"] ?? "none").utf8)
    return NetworkResponse(request: request, statusCode: 200, body: .data(body))
  }

  /// Holds requests right before they are sent.
  private var hold: ClosureBehavior {
    ClosureBehavior("hold", order: .last) { [gate] request, next in
      await gate.pass()
      return try await next(request)
    }
  }

  private func code(_ call: Task<String, any Error>) async throws -> NetworkError.Code {
    try await #require(throws: NetworkError.self) { try await call.value }.code
  }

  @Test func `a call does not join the request of an earlier sign-in of its account`() async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let client = NetworkClient(transport, [.tokenAuth(session), .coalescing(), hold])
    try await session.signIn(AccessToken("t1"), as: "anna")
    let first = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("t2"), as: "anna")
    let second = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(2)
    gate.open()
    #expect(try await code(first) == .signedOut)
    #expect(try await second.value == "Bearer t2")
  }

  @Test func `a signed call does not join the request of an earlier sign-in with the same token`() async throws {
    let credentials = OAuth1Credentials(token: "token", secret: "secret")
    let session = OAuth1Session(consumer: OAuth1Consumer(key: "key", secret: "secret"), credentials: credentials)
    let client = NetworkClient(transport, [.oauth1(session), .coalescing(), hold])
    let first = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    session.signOut()
    session.signIn(credentials)
    let second = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(2)
    gate.open()
    #expect(try await code(first) == .signedOut)
    #expect(try await second.value.hasPrefix("OAuth"))
  }

  @Test func `a call does not join the batch of an earlier sign-in of its account`() async throws {
    let clock = ManualClock()
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let batch = BatchBehavior(
      "users", window: .seconds(1), group: { _ in "all" }, merge: { $0[0] },
      split: { response, requests in requests.map { _ in .success(response) } })
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session), batch])
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: transport)
    try await session.signIn(AccessToken("t1"), as: "anna")
    let first = Task { try await client.send(Request<String>.get("a")) }
    await clock.waitForSleepers(1)
    try await session.signIn(AccessToken("t2"), as: "anna")
    let second = Task { try await client.send(Request<String>.get("b")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    #expect(try await code(first) == .signedOut)
    #expect(try await second.value == "Bearer t2")
  }
}
