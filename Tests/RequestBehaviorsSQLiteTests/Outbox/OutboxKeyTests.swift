import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The idempotency key of an entry, and the field that carries it.
@Suite(.limited) struct OutboxKeyTests {
  /// An operation for a server that expects the key in a field of its own.
  private struct Pay: OutboxOperation {
    static let name = "pay"
    var order: Int
    var delivery: OutboxDelivery {
      OutboxDelivery(key: .value("order-\(order)").inField("X-Request-Key", isQuoted: true))
    }

    func request(in db: Database) -> Request<Void> { .put("orders/\(order)") }
  }

  private func fields(_ name: String, _ mock: MockTransport) -> [String?] { mock.sent.map { $0.headers[name] } }

  @Test func `the key of a delivery is sent in its field, with each attempt and after a restart`() async throws {
    let count = Shared(0)
    let first = try OutboxWorld { _ in (count.next() == 1 ? 503 : 200, "") }
    do {
      let outbox = try await first.outbox(operations: [Pay.self])
      try await outbox.enqueue(Pay(order: 7))
      try await outbox.drain()
      await first.store.close()
    }
    let world = try OutboxWorld(first.mock, file: first.folder)
    world.clock.advance(by: .seconds(60))
    #expect(try await world.outbox(operations: [Pay.self]).drain().isEmpty)
    #expect(fields("X-Request-Key", first.mock) == ["\"order-7\"", "\"order-7\""])
    #expect(fields("Idempotency-Key", first.mock) == [nil, nil])
  }

  @Test func `a request without a type has the key of its delivery in the field of that, also after a restart`()
    async throws
  {
    let first = try OutboxWorld()
    let id: UUID
    do {
      let outbox = try await first.outbox()
      let key = IdempotencyKey.generated.inField("X-Request-Key")
      id = try await outbox.enqueue(.post("a"), delivery: OutboxDelivery(key: key))
      let given = IdempotencyKey.value("b-1").inField("X-Request-Key", isQuoted: true)
      try await outbox.enqueue(.post("b"), delivery: OutboxDelivery(key: given))
      try await outbox.enqueue(.post("c"), delivery: OutboxDelivery(key: .value("c-1")))
      await first.store.close()
    }
    let world = try OutboxWorld(first.mock, file: first.folder)
    try await world.outbox(OutboxConfiguration(concurrency: 1)).drain()
    #expect(fields("X-Request-Key", first.mock) == [id.uuidString.lowercased(), "\"b-1\"", nil])
    #expect(fields("Idempotency-Key", first.mock) == [nil, nil, "c-1"])
  }

  @Test(arguments: [Duration.seconds(1e20), .seconds(-1e20)])
  func `a request whose times are beyond all bounds can be enqueued`(time: Duration) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let id = try await outbox.enqueue(Request<Void>.post("a").with(\.idleTimeout, time).with(\.timeout, time))
    #expect(try await outbox.state(of: id) != nil)
  }

  @Test func `an empty field of a request does not replace the key of its entry`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let id = try await outbox.enqueue(Request<Void>.post("a", headers: ["Idempotency-Key": ""]))
    try await outbox.drain()
    #expect(fields("Idempotency-Key", world.mock) == [id.uuidString.lowercased()])
  }

  @Test func `a stored time beyond all bounds counts as a long one`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await outbox.enqueue(Request<Void>.post("a").with(\.timeout, .seconds(7_777)))
    try await world.store.write { db in
      let changed = "CAST(replace(CAST(payload AS TEXT), '7777', '1e300') AS BLOB)"
      _ = try db.execute(SQL(verbatim: "UPDATE outbox_entry SET payload = \(changed)"))
    }
    try await outbox.drain()
    #expect(world.mock.sent.first?.options.timeout == .seconds(100 * 366 * 86_400))
  }

  @Test func `the key of a request takes precedence over that of its delivery`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let request = Request<Void>.post("a").with(\.idempotencyKey, IdempotencyKey.value("own").inField("X-Own"))
    try await outbox.enqueue(
      request, delivery: OutboxDelivery(key: IdempotencyKey.value("other").inField("X-Request-Key")))
    try await outbox.drain()
    #expect(fields("X-Own", world.mock) == ["own"])
    #expect(fields("X-Request-Key", world.mock) == [nil])
  }
}
