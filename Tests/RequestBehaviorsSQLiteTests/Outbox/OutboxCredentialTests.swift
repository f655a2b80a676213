import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Credentials without a user: those of the app, and those of an operation's own request.
@Suite(.limited) struct OutboxCredentialTests {
  private let session = TokenSession(source: .signInOnly)

  /// A ticket with an owner, and without a session.
  private struct Ticket: CredentialBehavior {
    var order: BehaviorOrder { .authentication }
    var credential: String { "ticket" }
    let holder: String

    func scope(for request: NetworkRequest) -> String? { applies(to: request) ? "ticket:\(holder)" : nil }

    func headers(for request: NetworkRequest) -> HeaderFields {
      HeaderFields([.init("X-Ticket", holder, sensitive: origins)])
    }
  }

  private let optional = Request<Void>.post("optional").with(\.authentication, .optional)

  private func fields(_ name: String, _ world: OutboxWorld) -> [String?] { world.mock.sent.map { $0.headers[name] } }

  // MARK: Guests

  @Test(arguments: [false, true])
  func `a guest's optional request has the key of the app and no token`(signsIn: Bool) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.apiKey("X-API-Key", "key"), .tokenAuth(session)]))
    try await outbox.enqueue(optional)
    if signsIn { try await session.signIn(AccessToken("token"), as: "a") }
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("X-API-Key", world) == ["key"])
    #expect(fields("Authorization", world) == [nil])
  }

  @Test func `an optional request of a client without a session has the key of the app`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.apiKey("X-API-Key", "key")]))
    try await outbox.enqueue(optional)
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("X-API-Key", world) == ["key"])
  }

  @Test func `a guest's request has the ticket with which it was enqueued, and not another holder's`() async throws {
    let world = try OutboxWorld()
    let session = session
    func outbox(_ holder: String) async throws -> Outbox {
      try await world.outbox(world.client([Ticket(holder: holder), .tokenAuth(session)]))
    }
    try await outbox("anna").enqueue(optional)
    #expect(try await outbox("ben").drain().others == 1)
    try await session.signIn(AccessToken("token"), as: "a")
    #expect(try await outbox("anna").drain().isEmpty)
    #expect(fields("X-Ticket", world) == ["anna"])
    #expect(fields("Authorization", world) == [nil])
  }

  @Test func `a request has the token of the owner who enqueued it, and not another owner's`() async throws {
    let world = try OutboxWorld()
    func outbox(_ owner: String) async throws -> Outbox {
      try await world.outbox(world.client([.bearer("token-\(owner)", owner: owner)]))
    }
    try await outbox("anna").enqueue(.post("keys"))
    #expect(try await outbox("ben").drain().others == 1)
    #expect(world.sent == [])
    #expect(try await outbox("anna").drain().isEmpty)
    #expect(fields("Authorization", world) == ["Bearer token-anna"])
  }

  @Test func `a request without authentication has no key`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.apiKey("X-API-Key", "key"), .tokenAuth(session)]))
    try await outbox.enqueue(Request<Void>.post("none").with(\.authentication, .none))
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("X-API-Key", world) == [nil])
  }

  // MARK: The request's own

  /// An operation whose request brings a password.
  private struct Report: OutboxOperation {
    static let name = "report"

    func request(in db: Database) -> Request<Void> {
      .post("reports").with(BasicAuthBehavior(user: "report", password: "p").ordered(.authentication))
    }
  }

  @Test func `a request is sent with the credentials that it brings itself`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Report.self])
    try await outbox.enqueue(Report())
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("Authorization", world) == ["Basic cmVwb3J0OnA="])
  }

  @Test func `the credentials of a request replace those of the client`() async throws {
    let world = try OutboxWorld()
    let client = world.client([.basicAuth(user: "app", password: "p"), .tokenAuth(session, header: .field("X-Token"))])
    let outbox = try await world.outbox(client, operations: [Report.self])
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Report())
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("Authorization", world) == ["Basic cmVwb3J0OnA="])
  }

  @Test func `a request with credentials of its own is sent as its user or not at all`() async throws {
    let world = try OutboxWorld()
    let client = world.client([.tokenAuth(session, header: .field("X-Token"))])
    let outbox = try await world.outbox(client, operations: [Report.self])
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Report())
    try await session.signIn(AccessToken("another"), as: "b")
    #expect(try await outbox.drain().others == 1)
    #expect(world.sent == [])
  }

  /// An operation whose request leaves out the token of the client.
  private struct Plain: OutboxOperation {
    static let name = "plain"

    func request(in db: Database) -> Request<Void> { .post("plain").without(TokenAuthBehavior.self) }
  }

  @Test func `a request without a behavior of the client is sent without its token`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]), operations: [Plain.self])
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Plain())
    #expect(try await outbox.drain().isEmpty)
    #expect(fields("Authorization", world) == [nil])
  }

  /// An operation whose request brings a session.
  private struct Visit: OutboxOperation {
    static let name = "visit"
    static let session = TokenSession(name: "visitor", source: .signInOnly)

    func request(in db: Database) -> Request<Void> { .post("visits").with(.tokenAuth(Self.session)) }
  }

  @Test func `a request with a session of its own is refused, because its user may be another one later`() async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Visit.self])
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(Visit()) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("visitor") == true)
  }
}
