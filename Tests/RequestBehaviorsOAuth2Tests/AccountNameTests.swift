import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The account of a sign-in: named before, or requested with the new token.
@Suite(.limited) struct AccountNameTests {
  private let fixture = OAuth2Fixture()

  enum Way: CaseIterable {
    case signIn
    case finish
    case device
    case deviceFinish
  }

  init() {
    fixture.mock.on(.post, "device").respond(
      200, jsonText: #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d","interval":7}"#
    ).optional()
    fixture.mock.on(.post, "revoke").respond(200).optional()
  }

  /// The id of the owner of the token; `nil` if no user is signed in.
  private var owner: String? { get async throws { try await fixture.store.load()?.sessionID } }

  /// The id that the session gives an account.
  private func owner(of account: String) async throws -> String? {
    let store = InMemoryTokenStore()
    try await TokenSession(source: .signInOnly, store: store).signIn(AccessToken("other"), as: account)
    return try await store.load()?.sessionID
  }

  /// Signs in as an account that is known before.
  private func signIn(_ way: Way, as account: String?) async throws {
    try await fixture.clock.run {
      let (flow, device) = (fixture.flow(), fixture.device)
      switch way {
      case .signIn:
        try await flow.signIn(["login_hint": account ?? ""], as: account) { callback(to: $0, "code=abc") }
      case .finish:
        let signIn = try await flow.begin()
        try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"), as: account)
      case .device: try await device.signIn(as: account) { _ in }
      case .deviceFinish: try await device.finish(try await device.begin(), as: account)
      }
    }
  }

  /// Signs in, and asks with the new token whose account it is.
  private func signIn(_ way: Way, naming name: @escaping @Sendable (OAuth2Grant) async throws -> String) async throws {
    try await fixture.clock.run {
      let (flow, device) = (fixture.flow(), fixture.device)
      switch way {
      case .signIn: try await flow.signIn([:], { callback(to: $0, "code=abc") }, naming: name)
      case .finish:
        let signIn = try await flow.begin()
        try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"), naming: name)
      case .device: try await device.signIn({ _ in }, naming: name)
      case .deviceFinish: try await device.finish(try await device.begin(), naming: name)
      }
    }
  }

  private var revoked: [String] {
    get throws {
      try fixture.mock.sent.filter { $0.url.path() == "/revoke" }.compactMap { try $0.form.items.first?.value }
    }
  }

  @Test(arguments: Way.allCases) func `a name that is passed to the sign-in is the account`(way: Way) async throws {
    fixture.respond()
    try await signIn(way, as: "anna")
    #expect(try await owner == owner(of: "anna"))
  }

  @Test(arguments: Way.allCases) func `a name that the new token tells is the account`(way: Way) async throws {
    fixture.respond()
    fixture.mock.on(.get, "me").respond(200, body: Data("anna".utf8))
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    try await signIn(way) { grant in
      try await client.prerequisites.send(.get("me").with(.bearer(grant.token.value)))
    }
    #expect(try await owner == owner(of: "anna"))
    #expect(fixture.mock.sent.last?.headers["Authorization"] == "Bearer A")
  }

  @Test(arguments: Way.allCases) func `without a name each sign-in is a new owner`(way: Way) async throws {
    fixture.respond()
    fixture.respond()
    try await signIn(way, as: nil)
    let first = try await owner
    try await signIn(way, as: nil)
    let second = try await owner
    #expect(first != nil)
    #expect(second != nil)
    #expect(first != second)
  }

  @Test(arguments: Way.allCases)
  func `an empty name is refused before anything is sent, and by the closure before the sign-in`(
    way: Way
  ) async throws {
    let early = await errorCode { try await signIn(way, as: "") }
    #expect(early == .invalidRequest)
    #expect(fixture.mock.sent.filter { $0.url.path() == "/token" }.isEmpty)
    fixture.respond()
    let late = await errorCode { try await signIn(way) { _ in "" } }
    #expect(late == .invalidRequest)
    #expect(try await fixture.store.load() == nil)
    #expect(try revoked == ["R"])
  }

  @Test(arguments: Way.allCases)
  func `a closure that throws ends the sign-in, and the token is revoked`(way: Way) async throws {
    fixture.respond()
    await #expect(throws: CocoaError.self) { try await signIn(way) { _ in throw CocoaError(.userCancelled) } }
    #expect(try await fixture.store.load() == nil)
    #expect(try await fixture.isSignedIn == false)
    #expect(try revoked == ["R"])
  }

  @Test(arguments: Way.allCases)
  func `a closure that throws keeps the signed-in user, and does not revoke a token`(
    way: Way
  ) async throws {
    try await fixture.session.signIn(AccessToken("old"))
    fixture.respond()
    await #expect(throws: CocoaError.self) { try await signIn(way) { _ in throw CocoaError(.userCancelled) } }
    #expect(try await fixture.store.load()?.value == "old")
    #expect(try revoked.isEmpty)
  }

  @Test(arguments: Way.allCases)
  func `a closure that throws keeps a user whom another process has signed in meanwhile`(way: Way) async throws {
    fixture.respond()
    let store = fixture.store
    #expect(try await fixture.isSignedIn == false)
    await #expect(throws: CocoaError.self) {
      try await signIn(way) { _ in
        try await store.save(AccessToken("other"))
        throw CocoaError(.userCancelled)
      }
    }
    #expect(try await fixture.store.load()?.value == "other")
    #expect(try revoked.isEmpty)
  }

  @Test func `the prerequisites of a client ask with the new token, also while another user is signed in`() async throws
  {
    try await fixture.session.signIn(AccessToken("old"), as: "ben")
    fixture.respond()
    fixture.mock.on(.get, "me").respond(200, body: Data("anna".utf8))
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    try await signIn(.signIn) { grant in
      try await client.prerequisites.send(.get("me").with(.bearer(grant.token.value)))
    }
    #expect(fixture.mock.sent.last?.headers["Authorization"] == "Bearer A")
    #expect(try await owner == owner(of: "anna"))
  }

  @Test func `a callback whose closure threw is used`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    await #expect(throws: CocoaError.self) {
      try await flow.finish(signIn, callback: found) { _ in throw CocoaError(.userCancelled) }
    }
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2AlreadyFinished)
  }

  @Test(arguments: Way.allCases)
  func `a cancellation in the closure does not sign a user in, and the token is revoked`(way: Way) async throws {
    fixture.respond()
    let gate = TestGate()
    let task = Task {
      try await signIn(way) { _ in
        gate.arrive()
        // Until the task is cancelled.
        try await Waiter<Void>().value()
        return "anna"
      }
    }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await fixture.store.load() == nil)
    _ = await fixture.mock.waitForRequests(way == .signIn || way == .finish ? 2 : 3)
    #expect(try revoked == ["R"])
  }

  @Test(arguments: Way.allCases)
  func `another sign-in while the closure asks is not undone`(way: Way) async throws {
    fixture.respond()
    let session = fixture.session
    let code = await errorCode {
      try await signIn(way) { _ in
        try await session.signIn(AccessToken("other"), as: "ben")
        return "anna"
      }
    }
    #expect(code == .signedOut)
    #expect(try await fixture.store.load()?.value == "other")
    #expect(try await owner == owner(of: "ben"))
    #expect(try revoked.isEmpty)
  }

  @Test(arguments: Way.allCases)
  func `a sign-out while the closure asks is not undone, and the token is revoked`(way: Way) async throws {
    fixture.respond()
    let session = fixture.session
    let code = await errorCode {
      try await signIn(way) { _ in
        try await session.signOut()
        return "anna"
      }
    }
    #expect(code == .signedOut)
    #expect(try await fixture.store.load() == nil)
    #expect(try revoked == ["R"])
  }

  @Test func `a token whose closure throws is only dropped where the store cannot tell who is signed in`()
    async throws
  {
    let session = TokenSession(source: .signInOnly, store: UnreadableStore())
    fixture.respond()
    let flow = OAuth2Flow(
      session: session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    await #expect(throws: CocoaError.self) {
      try await flow.signIn {
        callback(to: $0, "code=abc")
      } naming: { _ in
        throw CocoaError(.userCancelled)
      }
    }
    #expect(try revoked.isEmpty)
  }

  @Test func `entries of an outbox wait for the account of a sign-in`() async throws {
    let client = fixture.client.with { $0.behaviors += [.tokenAuth(fixture.session)] }
    let store = try SQLiteStore(path: ":memory:")
    let outbox = try await Outbox(
      store, client: client, operations: [], configuration: OutboxConfiguration(trust: .anyone))
    func summary() async throws -> OutboxSummary { try await store.read { try outbox.summary(in: $0) } }
    func signIn(_ name: String?) async throws {
      fixture.respond()
      try await self.signIn(.signIn, as: name)
    }
    try await signIn("anna")
    try await outbox.enqueue(.post("orders"))
    try await fixture.session.signOut()
    try await signIn("ben")
    #expect(try await summary().others == 1)
    #expect(try await summary().waiting == 0)
    try await signIn("anna")
    #expect(try await summary().waiting == 1)
    #expect(try await outbox.deadLetters().isEmpty)
  }
}

private final class UnreadableStore: TokenStore {
  func load() async throws -> AccessToken? { throw NetworkError(.tokenStoreFailed, "locked") }
  func save(_ token: AccessToken?) async throws {}
}
