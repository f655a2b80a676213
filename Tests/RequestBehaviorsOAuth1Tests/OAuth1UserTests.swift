import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A call keeps the user that it began with, and no signature leaves after its user's sign-out.
@Suite(.limited) struct OAuth1UserTests {
  private let session = OAuth1Session.sample()
  private let other = OAuth1Credentials(token: "other", secret: "secret")

  private func send(_ order: BehaviorOrder, _ action: @escaping @Sendable (OAuth1Session) -> Void) async -> (
    NetworkError?, sent: Int
  ) {
    let transport = ClosureTransport()
    let acting = ClosureBehavior("acting", order: order) { [session] request, next in
      action(session)
      return try await next(request)
    }
    let client = NetworkClient(transport, [.oauth1(session), acting])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("pay")) }
    return (error, transport.sent.count)
  }

  @Test(arguments: [BehaviorOrder.gate, .last])
  func `a call fails when another user signs in while it is under way`(order: BehaviorOrder) async {
    let (error, sent) = await send(order) { [other] in $0.signIn(other) }
    #expect(error?.code == .signedOut)
    #expect(sent == 0)
  }

  @Test func `a signed request fails when its user signs out before it is sent`() async {
    let (error, sent) = await send(.last) { $0.signOut() }
    #expect(error?.code == .signedOut)
    #expect(sent == 0)
  }

  @Test(arguments: [AuthenticationRequirement.required, .optional])
  func `a call whose user signs out while it waits is not sent without a signature`(
    requirement: AuthenticationRequirement
  ) async {
    let transport = ClosureTransport()
    let leaving = ClosureBehavior("leaving", order: .gate) { [session] request, next in
      session.signOut()
      return try await next(request)
    }
    let client = NetworkClient(transport, [.oauth1(session), leaving])
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(Request<Void>.post("pay").with(\.authentication, requirement))
    }
    #expect(error?.code == .signedOut)
    #expect(transport.sent.isEmpty)
  }

  /// Takes a request with its present jar after its user has signed out.
  private final class JarTransport: Transport {
    let session: OAuth1Session
    let jar = Box(0)
    let usedJar = Box(0)

    init(_ session: OAuth1Session) { self.session = session }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      session.signOut()
      usedJar.value = jar.value
      return NetworkResponse(request: request, statusCode: 200)
    }

    func forgetUser() { jar.update { $0 += 1 } }
    func shutdown() async {}
  }

  @Test func `the next user does not get a cookie jar used by a request handed over during the sign-out`()
    async throws
  {
    let transport = JarTransport(session)
    let client = NetworkClient(transport, [.oauth1(session)])
    try await client.send(.get("a"))
    for _ in 0..<10_000 where transport.jar.value <= transport.usedJar.value { await Task.yield() }
    #expect(transport.jar.value > transport.usedJar.value)
    withExtendedLifetime(client) {}
  }

  @Test func `a redirect to another origin is followed although the user has signed out meanwhile`() async throws {
    let transport = ClosureTransport { request in
      let isElsewhere = request.url.host() == "other.example"
      return NetworkResponse(
        request: request, statusCode: isElsewhere ? 200 : 302, headers: ["Location": "https://other.example/file"])
    }
    let leaving = ClosureBehavior("leaving", order: .last) { [session] request, next in
      if request.url.host() == "other.example" { session.signOut() }
      return try await next(request)
    }
    try await NetworkClient(transport, [.oauth1(session), leaving]).send(.get("file"))
    #expect(transport.sent.map { $0.headers.contains("Authorization") } == [true, false])
  }

  @Test func `another user's sign-in removes the previous user's responses from the cache`() async throws {
    struct Farewell: RequestBehavior {
      let order = BehaviorOrder.last
      let gate: TestGate
      func scopeEnded(_ scope: String) async { gate.open() }
    }
    let (store, gate) = (MemoryCacheStore(), TestGate())
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(transport, [.caching(store), .oauth1(session), Farewell(gate: gate)])
    try await client.send(.get("a"))
    #expect(store.count == 1)
    session.signIn(try #require(session.credentials))
    #expect(gate.arrivalCount == 0)
    #expect(store.count == 1)
    session.signIn(other)
    await gate.pass()
    #expect(store.count == 0)
  }

  @Test func `a call after another user's sign-in is signed for that user`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [.oauth1(session)])
    try await client.send(.get("a"))
    session.signIn(other)
    try await client.send(.get("b"))
    #expect(transport.sent.last?.headers["Authorization"]?.contains("oauth_token=\"other\"") == true)
  }
}
