import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// Entries of two accounts that are signed in side by side in one client, of which one leaves.
@Suite(.limited) struct OutboxTwoAccountsTests {
  private let anna = TokenSession(name: "anna", source: .signInOnly)
  private let ben = TokenSession(name: "ben", source: .signInOnly)

  /// A request for one account or without one, which cannot be made before there is a note.
  private struct Late: OutboxOperation {
    static let name = "late"
    var account: String?

    private var authentication: AuthenticationRequirement { account.map { .only($0) } ?? .none }

    func request(in db: Database) throws -> Request<Void> {
      guard try db.first("SELECT 1 FROM note", as: Int.self) != nil else {
        throw OutboxNotReady(authentication: authentication)
      }
      return Request<Void>.post("late").with(\.authentication, authentication)
    }
  }

  /// A request for one account or without one.
  private struct Own: OutboxOperation {
    static let name = "own"
    var account: String?

    func request(in db: Database) -> Request<Void> {
      Request<Void>.post("own").with(\.authentication, account.map { .only($0) } ?? .none)
    }
  }

  private func outbox(
    _ world: OutboxWorld, _ configuration: OutboxConfiguration = OutboxConfiguration()
  ) async throws -> Outbox {
    try await anna.signIn(AccessToken("token-anna"), as: "anna")
    return try await world.outbox(
      world.client([.tokenAuth(anna), .tokenAuth(ben)]), operations: [Late.self, Own.self], configuration)
  }

  private func signInBen() async throws { try await ben.signIn(AccessToken("token-ben"), as: "ben") }

  private func addNote(to world: OutboxWorld) async throws {
    try await world.store.write { _ = try $0.save([Note(id: UUID(), text: "")], into: "note") }
  }

  private func tokens(_ world: OutboxWorld) -> [String?] { world.mock.sent.map { $0.headers["Authorization"] } }

  // MARK: Requests that cannot be made yet

  @Test func `a request that cannot be made yet outlasts the sign-out of an account that it does not name`()
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signInBen()
    try await outbox.enqueue(Late(account: "anna"))
    try await ben.signOut()
    try await addNote(to: world)
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-anna"])
  }

  @Test func `a request that cannot be made yet needs the account only that it names`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Late(account: "anna"))
    try await addNote(to: world)
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-anna"])
  }

  @Test func `a request that cannot be made yet goes with the sign-out of the account that it names`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signInBen()
    try await outbox.enqueue(Late(account: "ben"))
    try await ben.signOut()
    #expect(try await world.states.isEmpty)
  }

  @Test func `a request that cannot be made yet and names no account outlasts each sign-out`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signInBen()
    try await outbox.enqueue(Late())
    try await anna.signOut()
    try await ben.signOut()
    try await addNote(to: world)
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == [nil])
  }

  // MARK: Writers

  @Test(arguments: ["anna", nil])
  func `a writer enqueues although a user has left to whom the entry does not belong`(account: String?) async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await signInBen()
    let writer = try await outbox.writer()
    try await ben.signOut()
    try await world.store.write(durability: .full) { _ = try writer.enqueue(Own(account: account), in: $0) }
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == [account.map { "Bearer token-\($0)" }])
  }

  @Test func `a writer does not enqueue for a user who has left, although another is signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await signInBen()
    let writer = try await outbox.writer()
    try await ben.signOut()
    let error = await #expect(throws: NetworkError.self) {
      try await world.store.write(durability: .full) { _ = try writer.enqueue(Own(account: "ben"), in: $0) }
    }
    #expect(error?.code == .signedOut)
  }
}
