import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An operation that contains only its number.
private struct Order: OutboxOperation {
  static let name = "order"
  var number: Int
  var isAnonymous = false

  func request(in db: Database) -> Request<Void> {
    let request = Request<Void>.post("orders/\(number)")
    return isAnonymous ? request.with(\.authentication, AuthenticationRequirement.none) : request
  }
}

/// Entries of an outbox whose client proves the possession of its tokens.
@Suite(.limited) struct OutboxProofTests {
  private let fixture = OAuth2Fixture()
  private let store: SQLiteStore
  private let session: TokenSession

  init() async throws {
    store = try SQLiteStore(path: ":memory:")
    session = TokenSession(
      source: .refreshToken(fixture.endpoint()), store: fixture.store, clock: fixture.clock.requestClock)
    try await session.signIn(AccessToken("A", type: "DPoP", refreshToken: "R"), as: "anna")
    fixture.mock.on(.post, "orders/*").respond(200)
  }

  private func outbox(_ proof: any RequestBehavior...) async throws -> Outbox {
    let client = fixture.client.with { $0.behaviors += [.tokenAuth(session)] + proof }
    return try await Outbox(
      store, client: client, operations: [Order.self], configuration: OutboxConfiguration(trust: .anyone))
  }

  @Test func `an entry without authentication is delivered, and has no proof`() async throws {
    let outbox = try await outbox(.dpop(try DPoPKey(signer())))
    try await outbox.enqueue(Order(number: 1, isAnonymous: true))
    #expect(try await outbox.drain().isEmpty)
    #expect(fixture.mock.sent.map { $0.headers["DPoP"] } == [nil])
  }

  @Test func `an entry of a user is delivered with a proof`() async throws {
    let outbox = try await outbox(.dpop(try DPoPKey(signer())))
    try await outbox.enqueue(Order(number: 1))
    #expect(try await outbox.drain().isEmpty)
    #expect(fixture.mock.sent.map { $0.headers["DPoP"] != nil } == [true])
  }

  @Test func `an entry outlasts the change to a new key`() async throws {
    do { try await outbox(.dpop(try DPoPKey(signer()))).enqueue(Order(number: 1)) }
    #expect(try await outbox(.dpop(try DPoPKey(signer()))).drain().isEmpty)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `an entry outlasts the change from bearer tokens to proven ones`() async throws {
    do { try await outbox().enqueue(Order(number: 1)) }
    #expect(try await outbox(.dpop(try DPoPKey(signer()))).drain().isEmpty)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a proof does not cause a warning about an unknown owner`() throws {
    let key = try DPoPKey(signer())
    let client = fixture.client.with { $0.behaviors += [.coalescing(), .tokenAuth(session), .dpop(key)] }
    #expect(try client.pipeline(for: Request<Void>.get("orders")).warnings.isEmpty)
  }

  @Test func `the owner of a response to a request with a proof is known, so that a cache may store it`() async throws {
    fixture.mock.on(.get, "orders").respond(200)
    let (key, isKnown) = (try DPoPKey(signer()), Locked(false))
    let cache = ClosureBehavior(
      "cache", order: .first,
      intercept: { request, next in
        let response = try await next(request)
        isKnown.withLock { $0 = next.knowsOwner(of: response) }
        return response
      })
    try await fixture.client.with { $0.behaviors += [cache, .tokenAuth(session), .dpop(key)] }.send(.get("orders"))
    #expect(fixture.mock.sent[0].headers["DPoP"] != nil)
    #expect(isKnown.withLock { $0 })
  }
}
