import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The steps at whose end a session has credentials of the service.
enum OAuth1LastStep: CaseIterable, Sendable {
  case finish, renew
}

/// A service whose responses to requests for an access token are held at a gate.
private struct OAuth1TokenFixture: Sendable {
  let session = OAuth1Session.sample()
  let gate = TestGate()
  let sample = OAuth1Credentials(token: "tk", secret: "ts-canary")
  let transport: ClosureTransport

  init() {
    transport = ClosureTransport { [gate] request in
      let isAPI = request.url.lastPathComponent != "access_token"
      if !isAPI { await gate.pass() }
      let text = isAPI ? "body" : "oauth_token=new&oauth_token_secret=as"
      return NetworkResponse(
        request: request, statusCode: 200, headers: isAPI ? ["Cache-Control": "max-age=60"] : [:],
        body: .data(Data(text.utf8)))
    }
  }

  func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, [.oauth1(session)] + behaviors)
  }

  func take(_ step: OAuth1LastStep) async throws {
    let flow = OAuth1Flow(
      session: session,
      endpoints: OAuth1Flow.Endpoints(
        requestToken: baseURL, authorize: baseURL, accessToken: baseURL.appending(path: "access_token")),
      over: client())
    switch step {
    case .finish: try await flow.finish(OAuth1RequestToken(token: "rt", secret: "rs"), verifier: "v")
    case .renew: try await flow.renew(sample, sessionHandle: "h")
    }
  }

  /// The tokens with which requests of the API were signed.
  var tokens: [String?] {
    transport.sent.filter { $0.url.lastPathComponent != "access_token" }.map {
      OAuth1Verifier.Received($0)["oauth_token"]
    }
  }
}

/// Sign-ins and renewals that the user has overtaken, by signing out or in, while the service was asked.
@Suite(.limited) struct OAuth1OvertakenSignInTests {
  private let fixture = OAuth1TokenFixture()

  /// Changes the session while the service is asked, and returns the error of the step.
  private func take(_ step: OAuth1LastStep, _ change: () -> Void) async throws -> NetworkError {
    let task = Task { [fixture] in try await fixture.take(step) }
    await fixture.gate.waitForArrivals(1)
    change()
    fixture.gate.open()
    return try await #require(throws: NetworkError.self) { try await task.value }
  }

  @Test(arguments: OAuth1LastStep.allCases)
  func `a sign-out while the service is asked is not undone`(step: OAuth1LastStep) async throws {
    #expect(try await take(step) { fixture.session.signOut() }.code == .signedOut)
    #expect(fixture.session.credentials == nil)
  }

  @Test(arguments: OAuth1LastStep.allCases)
  func `another user's sign-in while the service is asked is not undone`(step: OAuth1LastStep) async throws {
    let ben = OAuth1Credentials(token: "ben", secret: "s")
    let error = try await take(step) {
      fixture.session.signOut()
      fixture.session.signIn(ben)
    }
    #expect(error.code == .signedOut)
    #expect(fixture.session.credentials == ben)
  }
}

/// A user whose token is renewed stays the same user.
@Suite(.limited) struct OAuth1RenewalTests {
  private let fixture = OAuth1TokenFixture()
  private let new = OAuth1Credentials(token: "new", secret: "as")

  @Test func `a call that is under way at a renewal is sent with the new token`() async throws {
    fixture.gate.open()
    let renewing = ClosureBehavior("renewing", order: .gate) { [fixture] request, next in
      try await fixture.take(.renew)
      return try await next(request)
    }
    try await fixture.client(renewing).send(.post("pay"))
    #expect(fixture.session.credentials == new)
    #expect(fixture.tokens == ["new"])
  }

  @Test func `the responses of a user whose token is renewed stay in the cache`() async throws {
    fixture.gate.open()
    let client = fixture.client(.caching(MemoryCacheStore()))
    try await client.send(.get("a"))
    try await fixture.take(.renew)
    try await client.send(.get("a"))
    #expect(fixture.tokens == ["tk"])
    try await client.send(.get("b"))
    #expect(fixture.tokens == ["tk", "new"])
  }

  @Test func `two concurrent renewals keep the owner`() async throws {
    let owner = OAuth1Behavior(fixture.session).account
    let renewals = (0..<2).map { _ in Task { [fixture] in try await fixture.take(.renew) } }
    await fixture.gate.waitForArrivals(2)
    fixture.gate.open()
    for renewal in renewals { try await renewal.value }
    #expect(OAuth1Behavior(fixture.session).account == owner)
    #expect(fixture.session.credentials == new)
  }

  @Test func `a renewal signs in if no user is signed in`() async throws {
    fixture.gate.open()
    fixture.session.signOut()
    try await fixture.take(.renew)
    #expect(fixture.session.credentials == new)
  }

  @Test func `a named account is the same owner with every token, and after every launch`() async throws {
    let behavior = OAuth1Behavior(fixture.session)
    let nameless = behavior.account
    try fixture.session.signIn(fixture.sample, as: "7")
    let owner = behavior.account
    #expect(owner != nameless)
    fixture.session.signIn(fixture.sample)
    #expect(behavior.account == owner)
    let count = behavior.signInCount
    try fixture.session.signIn(new, as: "7")
    #expect(behavior.account == owner)
    #expect(behavior.signInCount != count)
    let next = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs-canary"))
    try next.signIn(new, as: "7")
    #expect(OAuth1Behavior(next).account == owner)
    let salt = Data("salt".utf8)
    #expect(OAuth1Behavior(next).credentialDigest(salt: salt) == behavior.credentialDigest(salt: salt))
    try next.signIn(new, as: "8")
    #expect(OAuth1Behavior(next).account != owner)
  }

  @Test func `an empty name of an account is refused`() throws {
    let error = try #require(throws: NetworkError.self) { try fixture.session.signIn(new, as: "") }
    #expect(error.code == .invalidRequest)
    #expect(fixture.session.credentials == fixture.sample)
  }

  @Test func `signing in again with the same credentials does not end a call`() async throws {
    let signingIn = ClosureBehavior("signing in", order: .gate) { [fixture] request, next in
      fixture.session.signIn(fixture.sample)
      return try await next(request)
    }
    try await fixture.client(signingIn).send(.post("pay"))
    #expect(fixture.tokens == ["tk"])
  }

  @Test func `a flow names the account, so that a user with another token is the same owner`() async throws {
    let tokens = Box(0)
    let transport = ClosureTransport { request in
      let number = tokens.update { number in
        number += 1
        return number
      }
      let text = "oauth_token=t\(number)&oauth_token_secret=s&user_id=7"
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(text.utf8)))
    }
    let session = OAuth1Session.sample()
    let flow = OAuth1Flow(
      session: session,
      endpoints: OAuth1Flow.Endpoints(requestToken: baseURL, authorize: baseURL, accessToken: baseURL),
      over: NetworkClient(transport))
    var owners: [String?] = []
    for _ in 1...2 {
      let token = OAuth1RequestToken(token: "rt", secret: "rs")
      try await flow.finish(token, verifier: "v", naming: { $0["user_id"] })
      owners.append(OAuth1Behavior(session).account)
    }
    // Each is exchanged for a token of its own, the second time one that was replaced.
    let first = OAuth1Credentials(token: "t2", secret: "s")
    for _ in 1...2 {
      try await flow.renew(first, sessionHandle: "h")
      owners.append(OAuth1Behavior(session).account)
    }
    #expect(session.credentials?.token == "t4")
    #expect(Set(owners).count == 1)
  }
}
