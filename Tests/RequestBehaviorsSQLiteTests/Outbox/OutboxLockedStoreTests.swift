import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A token store whose content outlasts a launch, and which can be locked.
final class LockedTokenStore: TokenStore {
  private let box: Shared<AccessToken?>
  private let isLocked: Shared<Bool>

  /// Runs when the token has been read, and before the reader has it.
  private let hasRead: @Sendable () async throws -> Void

  init(
    _ box: Shared<AccessToken?>, _ isLocked: Shared<Bool>, hasRead: @escaping @Sendable () async throws -> Void = {}
  ) {
    (self.box, self.isLocked, self.hasRead) = (box, isLocked, hasRead)
  }

  func load() async throws -> AccessToken? {
    if isLocked.value { throw CocoaError(.fileReadNoPermission) }
    let token = box.value
    try await hasRead()
    return token
  }

  func save(_ token: AccessToken?) async throws { box.value = token }
}

/// Launches at which the token store cannot be read yet, so that the user is not known.
@Suite(.limited) struct OutboxLockedStoreTests {
  private let box = Shared<AccessToken?>(nil)
  private let isLocked = Shared(false)

  /// A session as each launch of the program makes it.
  private func session(_ source: any TokenSource = .signInOnly) -> TokenSession {
    TokenSession(source: source, store: LockedTokenStore(box, isLocked))
  }

  private func outbox(_ world: OutboxWorld, _ session: TokenSession) async throws -> Outbox {
    try await world.outbox(world.client([.tokenAuth(session)]))
  }

  private let optional = Request<Void>.post("optional").with(\.authentication, .optional)

  @Test func `an entry of a user who is not known yet is refused, and is not left without an owner`() async throws {
    let world = try OutboxWorld()
    try await session().signIn(AccessToken("token"), as: "a")
    isLocked.value = true
    let outbox = try await outbox(world, session())
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(Ping(number: 1)) }
    #expect(error?.code == .tokenStoreFailed)
    isLocked.value = false
    let left = try await outbox.drain()
    #expect(left.others == 0)
    #expect(world.sent == [])
    try await outbox.enqueue(Ping(number: 2))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer token"])
  }

  @Test func `an optional request of a user who is not known yet is not a guest's`() async throws {
    let world = try OutboxWorld()
    try await session().signIn(AccessToken("token"), as: "a")
    isLocked.value = true
    let outbox = try await outbox(world, session())
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(optional) }
    #expect(error?.code == .tokenStoreFailed)
    #expect(try await world.states == [])
  }

  @Test func `a request without a user is taken and sent while the user is not known`() async throws {
    let world = try OutboxWorld()
    isLocked.value = true
    let outbox = try await outbox(world, session())
    try await outbox.enqueue(Request<Void>.post("open").with(\.authentication, .none))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /open"])
  }

  @Test func `a sign-in tells the user although the store cannot be read`() async throws {
    let world = try OutboxWorld()
    isLocked.value = true
    let session = session()
    let outbox = try await outbox(world, session)
    try await session.signIn(AccessToken("new"), as: "b")
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer new"])
  }

  @Test func `the entries of a service are taken while its store cannot be read`() async throws {
    let world = try OutboxWorld()
    isLocked.value = true
    let outbox = try await outbox(world, session(.closure(account: "robot") { _ in AccessToken("robot's") }))
    try await outbox.enqueue(Ping(number: 1))
    isLocked.value = false
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer robot's"])
  }

  @Test func `a user who is not known yet is not away`() async throws {
    let world = try OutboxWorld()
    do {
      let session = session()
      try await session.signIn(AccessToken("token"), as: "a")
      try await outbox(world, session).enqueue(Ping(number: 1))
    }
    // Two launches in the background, before the device is unlocked.
    for _ in 0..<2 {
      isLocked.value = true
      try await outbox(world, session()).drain()
      world.clock.advance(by: .seconds(31 * 86_400))
    }
    #expect(try await world.states == [0])
    isLocked.value = false
    #expect(try await outbox(world, session()).drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }
}
