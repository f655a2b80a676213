import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Outboxes on one file, which one of them opens by its path and another one by a symbolic link.
@Suite(.limited) struct OutboxPathTests {
  private struct Upload: OutboxOperation {
    static let name = "upload"
    var photo: OutboxAttachment

    func request(in db: Database) -> Request<Void> { .put("photo", body: .file(photo.url)) }
  }

  /// Opens an outbox by a link to the file of a world, with a clock of its own.
  private func linked(_ world: OutboxWorld, _ clock: ManualClock = ManualClock()) async throws -> Outbox {
    let link = world.folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store.sqlite")
    var configuration = world.client().configuration
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: world.mock)
    return try await Outbox(SQLiteStore(path: link), client: client, operations: [Ping.self, Upload.self])
  }

  @Test func `only one outbox of a file sends, although another one opens the file through a link`() async throws {
    let (gate, clock) = (TestGate(), ManualClock())
    let world = try OutboxWorld { _ in
      await gate.pass()
      return (200, "")
    }
    let (one, two) = (try await world.outbox(), try await linked(world, clock))
    try await one.enqueue(Ping(number: 1))
    one.start()
    await gate.waitForArrivals(1)
    two.start()
    await clock.waitForSleepers(1)
    gate.open()
    await two.stop()
    #expect(try await one.drain().isEmpty)
    await one.stop()
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `an attachment of an outbox by a link is delivered by one that has the file's path`() async throws {
    let world = try OutboxWorld()
    let (one, two) = (try await world.outbox(operations: [Upload.self]), try await linked(world))
    let original = URL(filePath: world.folder.file("photo.jpg"))
    try Data("photo".utf8).write(to: original)
    try await two.enqueue(Upload(photo: two.attach(original)))
    #expect(try await one.drain().isEmpty)
    #expect(world.mock.sent.map { $0.body?.data } == [Data("photo".utf8)])
  }
}
