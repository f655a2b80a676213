import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An outbox on a device whose date is set while it runs, as that of one without a battery is after each start.
@Suite(.limited) struct OutboxClockTests {
  private static let year: TimeInterval = 365 * 86_400

  // MARK: Back

  @Test func `a wait follows a clock that is set back while the file cannot be written`() async throws {
    let (vfs, folder, clock) = (FaultVFS(), try TemporaryFolder(), ManualClock())
    let mock = MockTransport { request in
      let nonce = request.headers["X-API-Nonce"] ?? ""
      return NetworkResponse(
        request: request, statusCode: 503, headers: ["X-API-Nonce": nonce, "Retry-After": "3600"])
    }
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com"), behaviors: [.nonceVerification()])
    configuration.clock = clock.requestClock
    let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
    let client = NetworkClient(configuration: configuration, transport: mock)
    let outbox = try await Outbox(store, client: client, operations: [Ping.self])
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    clock.setDate(clock.date.addingTimeInterval(-Self.year))
    vfs.fail(at: 1, andAfter: true)
    await #expect(throws: SQLiteError.self) { try await outbox.drain() }
    #expect(vfs.heal())
    try await outbox.drain()
    #expect(try await outbox.state(of: entry.id) == .waiting(until: clock.date.addingTimeInterval(3_600)))
    clock.advance(by: .seconds(3_600))
    try await outbox.drain()
    #expect(mock.sent.count == 2)
    await outbox.stop()
    await store.close()
  }
}
