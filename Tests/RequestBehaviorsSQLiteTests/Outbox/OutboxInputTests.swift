import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Unusual values from the app: dates, names, files, and many entries that cannot be sent.
@Suite(.limited) struct OutboxInputTests {
  /// An operation with any conditions.
  private struct Late: OutboxOperation {
    static let name = "late"
    var number: Int
    var lane: String?
    var notBefore: Date?
    var expires: Date?
    var delivery: OutboxDelivery { OutboxDelivery(lane: lane, notBefore: notBefore, expires: expires) }

    func request(in db: Database) -> Request<Void> { .post("late/\(number)") }
  }

  // MARK: Dates

  // Numbers, because the description of such a date can end the process.
  static let times: [TimeInterval] = [
    Date.distantPast.timeIntervalSince1970, Date.distantFuture.timeIntervalSince1970, .infinity, -.infinity, .nan,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
  ]

  @Test(arguments: times) func `any date can be the start or the expiry of a delivery`(_ time: TimeInterval)
    async throws
  {
    let date = Date(timeIntervalSince1970: time)
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Conditional.self])
    try await outbox.write { db, queue in
      // The dates are not stored with the values, because JSON has no infinite numbers.
      try queue.enqueue(Conditional(delivery: OutboxDelivery(notBefore: date)), in: db)
      try queue.enqueue(Conditional(delivery: OutboxDelivery(expires: date)), in: db)
    }
    try await outbox.drain()
    let isFuture = date > world.clock.date
    // Neither waits, or both do: one of them is sent, and the other one has expired or waits.
    #expect(try await world.states == (isFuture ? [0, 5] : [5, 3]))
  }

  /// An operation whose conditions are not part of its value.
  private struct Conditional: OutboxOperation {
    static let name = "late"
    var delivery = OutboxDelivery()
    private enum CodingKeys: CodingKey {}

    func request(in db: Database) -> Request<Void> { .post("conditional") }
  }

  @Test func `an entry that expires before it may be sent is a dead letter when it expires`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Late.self])
    let now = world.clock.date
    try await outbox.enqueue(
      Late(number: 1, notBefore: now.addingTimeInterval(3_600), expires: now.addingTimeInterval(60)))
    try await outbox.drain()
    #expect(try await world.states == [0])
    world.clock.advance(by: .seconds(60))
    try await outbox.drain()
    #expect(try await world.states == [3])
    #expect(world.sent.isEmpty)
  }

  @Test func `an entry is not sent before its time, and neither are later ones of its lane`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Late.self])
    try await outbox.enqueue(Late(number: 1, lane: "a", notBefore: world.clock.date.addingTimeInterval(60)))
    try await outbox.enqueue(Late(number: 2, lane: "a"))
    try await outbox.enqueue(Late(number: 3, lane: "b"))
    try await outbox.drain()
    #expect(world.sent == ["POST /late/3"])
    world.clock.advance(by: .seconds(60))
    try await outbox.drain()
    #expect(world.sent == ["POST /late/3", "POST /late/1", "POST /late/2"])
  }

  // MARK: Names

  @Test(arguments: ["identity x", "\n", "a'b\"c", "", String(repeating: "l", count: 5_000)])
  func `a lane of any name stops at a dead letter`(_ lane: String) async throws {
    let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 422 : 200, "") }
    let outbox = try await world.outbox()
    for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: lane)) }
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1"])
    #expect(try await world.states == [4, 2])
  }

  @Test func `an identity and a lane of the same name are independent`() async throws {
    let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 422 : 200, "") }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    for number in 2...3 { try await outbox.enqueue(Ping(number: number, lane: "x")) }
    try await outbox.drain()
    // A dead letter of an identity does not block other entries.
    #expect(world.sent.count == 3)
  }

  // MARK: Many

  @Test func `thousands of blocked entries do not delay a write for long, and the others are sent`()
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await outbox.write { db, queue in
      for number in 0..<300 { try queue.enqueue(Ping(number: number), in: db) }
      for number in 300..<600 {
        try queue.enqueue(Ping(number: number, expires: world.clock.date.addingTimeInterval(60)), in: db)
      }
    }
    world.clock.advance(by: .seconds(61))
    let other = try await world.outbox(world.client(base: "https://new.example.com/"))
    try await other.enqueue(Ping(number: 600))
    let summary = try await other.drain()
    #expect(summary.held == 600)
    #expect(world.sent == ["POST /pings/600"])
    try await world.store.write { try $0.execute("UPDATE outbox_entry SET not_before = 0, set_at = 0") }
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.count == 301)
    #expect(try await outbox.deadLetters().count == 300)
    try await outbox.requeue(outbox.deadLetters().map(\.id))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.count == 601)
  }

  @Test func `many dead letters are discarded together, or not at all`() async throws {
    let world = try OutboxWorld { _ in (422, "") }
    let outbox = try await world.outbox()
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    try await outbox.drain()
    let ids = try await outbox.deadLetters().map(\.id)
    await #expect(throws: OutboxError.self) { try await outbox.discard(ids + [UUID()]) }
    #expect(try await outbox.deadLetters().count == 3)
    try await outbox.discard(ids)
    #expect(try await outbox.deadLetters().isEmpty)
  }

  // MARK: Files

  private struct Upload: OutboxOperation {
    static let name = "upload"
    var photo: OutboxAttachment
    var delivery: OutboxDelivery { OutboxDelivery(identity: "photo", repeats: .replaced) }

    func request(in db: Database) -> Request<Void> { .put("photo", body: .file(photo.url)) }
  }

  /// What an entry holds if another program wrote it.
  private struct Written: OutboxOperation {
    static let name = "upload"
    var photo: String

    func request(in db: Database) -> Request<Void> { .put("photo") }
  }

  @Test(arguments: ["../other", "../\u{301}other"])
  func `a file outside the outbox's folder cannot be an attachment`(name: String) async throws {
    let world = try OutboxWorld()
    try await world.outbox(operations: [Written.self]).enqueue(Written(photo: name))
    let other = String(name.unicodeScalars.dropFirst(3))
    try Data("other".utf8).write(to: URL(filePath: world.folder.file(other)))
    let outbox = try await world.outbox(operations: [Upload.self])
    // The folder is there once it has a file.
    _ = try await outbox.attach(file("photo", "photo.jpg", in: world))
    _ = try? await outbox.drain()
    #expect(world.mock.sent.isEmpty)
    #expect(try await outbox.deadLetters().count == 1)
  }

  private func file(_ text: String, _ name: String, in world: OutboxWorld) throws -> URL {
    let url = URL(filePath: world.folder.file(name))
    try Data(text.utf8).write(to: url)
    return url
  }

  private func files(_ world: OutboxWorld) -> Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: world.folder.file() + "-outbox")) ?? [])
  }

  @Test(arguments: [false, true]) func `the target of a link is attached`(moving: Bool)
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let original = try file("photo", "photo.jpg", in: world)
    let link = URL(filePath: world.folder.file("link.jpg"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: original)
    let photo = try await outbox.attach(link, moving: moving)
    if !moving { try Data("changed".utf8).write(to: original) }
    #expect(FileManager.default.fileExists(atPath: original.path) == !moving)
    try await outbox.enqueue(Upload(photo: photo))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.first?.body?.data == Data("photo".utf8))
  }

  @Test func `a folder cannot be an attachment, and stays in its place`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let folder = URL(filePath: world.folder.file("photos"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for moving in [false, true] {
      let error = await #expect(throws: SQLiteError.self) { try await outbox.attach(folder, moving: moving) }
      #expect(error?.code == .misuse)
    }
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `a file whose extension is as long as a name may be can be attached`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let original = try file("photo", "a." + String(repeating: "e", count: 240), in: world)
    let photo = try await outbox.attach(original)
    #expect(try Data(contentsOf: photo.url) == Data("photo".utf8))
    #expect(try await outbox.attach(file("b", "b.jpg", in: world)).url.pathExtension == "jpg")
  }

  @Test func `the attachment of a replaced value is removed, unless the new value has it too`()
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let first = try await outbox.attach(file("1", "1.jpg", in: world))
    let second = try await outbox.attach(file("2", "2.jpg", in: world))
    try await outbox.enqueue(Upload(photo: first))
    try await outbox.enqueue(Upload(photo: first))
    #expect(files(world) == [first.url.lastPathComponent, second.url.lastPathComponent])
    try await outbox.enqueue(Upload(photo: second))
    while files(world).count > 1 { await Task.yield() }
    #expect(files(world) == [second.url.lastPathComponent])
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.body?.data } == [Data("2".utf8)])
  }

  @Test func `a file that is just being taken over is not removed, however old it is`() async throws {
    let world = try OutboxWorld()
    _ = try await world.outbox(operations: [Upload.self]).attach(file("1", "1.jpg", in: world))
    let attached = files(world)
    // As another process leaves it when it is killed while it moves an old photo here.
    let now = Int(world.clock.date.timeIntervalSince1970 * 1_000)
    let path = world.folder.file() + "-outbox/new-\(now)-\(UUID()).jpg"
    try Data("2".utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: path)
    world.clock.advance(by: .seconds(86_300))
    _ = try await world.outbox(operations: [Upload.self])
    // The removal of others is over when the next one begins, because both are in the background.
    let removed = try await world.outbox(operations: [Upload.self]).attach(file("3", "3.jpg", in: world))
    #expect(files(world) == attached.union([URL(filePath: path).lastPathComponent, removed.url.lastPathComponent]))
    world.clock.advance(by: .seconds(200))
    _ = try await world.outbox(operations: [Upload.self])
    while files(world).count > 1 { await Task.yield() }
    #expect(files(world) == [removed.url.lastPathComponent])
  }
}
