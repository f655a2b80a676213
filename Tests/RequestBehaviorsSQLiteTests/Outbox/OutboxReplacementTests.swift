import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Operations that replace one of their identity which was never sent.
@Suite(.limited) struct OutboxReplacementTests {
  /// A message that is edited and rescheduled until it is sent.
  private struct Draft: OutboxOperation {
    static let name = "draft"
    var number: Int
    var notBefore: Date?
    var key: String?
    var delivery: OutboxDelivery {
      OutboxDelivery(
        identity: "draft", repeats: .replaced, key: key.map { .value($0) } ?? .generated, notBefore: notBefore)
    }

    func request(in db: Database) -> Request<Void> { .post("drafts/\(number)") }
  }

  private func outbox(_ world: OutboxWorld, at base: String = "https://api.example.com/") async throws -> Outbox {
    try await world.outbox(
      world.client(base: base), operations: [Draft.self, Ping.self], OutboxConfiguration(concurrency: 1))
  }

  @Test(arguments: [(60.0, 120.0), (120, 60)])
  func `a replacement is sent at its own time`(first: TimeInterval, second: TimeInterval) async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    let now = world.clock.date
    let entry = try await outbox.enqueue(Draft(number: 1, notBefore: now.addingTimeInterval(first)))
    let other = try await outbox.enqueue(Draft(number: 2, notBefore: now.addingTimeInterval(second)))
    #expect(other.id == entry.id)
    #expect(other.state == .waiting(until: now.addingTimeInterval(second)))
    world.clock.advance(by: .seconds(second - 1))
    try await outbox.drain()
    #expect(world.sent == [])
    world.clock.advance(by: .seconds(1))
    try await outbox.drain()
    #expect(world.sent == ["POST /drafts/2"])
  }

  @Test func `a replacement without a time is sent at once`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 1, notBefore: world.clock.date.addingTimeInterval(60)))
    try await outbox.enqueue(Draft(number: 2))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /drafts/2"])
  }

  @Test func `a replacement that need not wait keeps the place of the original`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 1))
    world.clock.advance(by: .seconds(1))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.enqueue(Draft(number: 2))
    try await outbox.drain()
    #expect(world.sent == ["POST /drafts/2", "POST /pings/1"])
  }

  @Test func `the time of a replacement holds although the clock is set back before it is sent`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 1))
    world.clock.advance(by: .seconds(10))
    try await outbox.enqueue(Draft(number: 2, notBefore: world.clock.date.addingTimeInterval(60)))
    world.clock.setDate(world.clock.date.addingTimeInterval(-3_600))
    try await outbox.drain()
    world.clock.advance(by: .seconds(59))
    try await outbox.drain()
    #expect(world.sent == [])
    world.clock.advance(by: .seconds(1))
    try await outbox.drain()
    #expect(world.sent == ["POST /drafts/2"])
  }

  @Test func `a replacement is sent with its own key`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 1, key: "one"))
    try await outbox.enqueue(Draft(number: 2, key: "two"))
    try await outbox.drain()
    #expect(world.mock.sent.map { $0.headers["Idempotency-Key"] } == ["two"])
  }

  @Test func `a replacement without a key does not use the key of the original`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 1, key: "one"))
    try await outbox.enqueue(Draft(number: 2))
    try await outbox.drain()
    let keys = world.mock.sent.map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 1)
    #expect(!keys.contains("one"))
  }

  @Test func `the default key stays the ID of the entry`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    let id = try await outbox.enqueue(Draft(number: 1)).id
    try await outbox.enqueue(Draft(number: 2))
    try await outbox.drain()
    #expect(world.mock.sent.map { $0.headers["Idempotency-Key"] } == [id.uuidString.lowercased()])
  }

  @Test func `a replacement is sent to the server for which it was enqueued`() async throws {
    let world = try OutboxWorld()
    do { try await outbox(world, at: "https://staging.example.com/").enqueue(Draft(number: 1)) }
    let outbox = try await outbox(world)
    try await outbox.enqueue(Draft(number: 2))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map(\.url.host) == ["api.example.com"])
  }
}
