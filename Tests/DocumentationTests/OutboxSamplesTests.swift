import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

struct Note: Codable, Equatable, Sendable {
  var id: UUID
  var text: String
  var serverID: Int?
}

struct Receipt: Codable, Sendable {
  var id: Int
}

struct CreateNote: OutboxOperation {
  static let name = "note.create"
  var note: Note

  func request(in db: Database) -> Request<Receipt> {
    .post("notes", body: .json(note))
  }

  func delivered(_ receipt: Receipt, in db: Database) throws {
    try db.execute(
      "UPDATE note SET serverID = \(receipt.id) WHERE id = \(note.id)")
  }
}

struct RenameNote: OutboxOperation {
  static let name = "note.rename"
  var id: UUID
  var title: String

  var delivery: OutboxDelivery {
    OutboxDelivery(
      lane: "note-\(id)", identity: "title-\(id)",
      repeats: .replaced)
  }

  func request(in db: Database) -> Request<Void> {
    .put("notes/\(id)/title", body: .json(title))
  }
}

struct EditNote: OutboxOperation {
  static let name = "note.edit"
  var id: UUID
  var text: String

  var delivery: OutboxDelivery {
    OutboxDelivery(
      lane: "note-\(id)", identity: "edit-\(id)",
      repeats: .replaced)
  }

  func request(in db: Database) throws -> Request<Void> {
    let note = try db.find(Note.self, in: "note", key: id)
    guard let server = note?.serverID else { throw OutboxNotReady() }
    return .put("notes/\(server)", body: .json(["text": text]))
  }
}

struct UploadPhoto: OutboxOperation {
  static let name = "photo.upload"
  var note: UUID
  var photo: OutboxAttachment

  func request(in db: Database) -> Request<Void> {
    .put("photos/\(note)", body: .file(photo.url))
  }
}

/// The samples of the article "Requests that must arrive" and of the types in it.
@Suite(.limited) struct OutboxSamplesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "OutboxSamples-\(UUID().uuidString)")

  private func makeStore() throws -> SQLiteStore {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try SQLiteStore(
      path: folder.appending(path: "notes.sqlite").path,
      migrations: [
        SQLiteMigration("note") { db in
          try db.execute("CREATE TABLE note (id BLOB PRIMARY KEY, text TEXT NOT NULL, serverID INTEGER)")
        }
      ])
  }

  /// A server that refuses texts of more than 100 characters, and verifies.
  private func client(_ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    let mock = MockTransport(baseURL: baseURL) { request in
      let isLong = (request.body?.data?.count ?? 0) > 130 && request.url.path().contains("notes/7")
      var response = NetworkResponse(
        request: request, statusCode: isLong ? 422 : 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"id": 7}"#.utf8)))
      response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return response
    }
    return NetworkClient(baseURL: baseURL, behaviors: [.nonceVerification()] + behaviors, transport: mock)
  }

  private func serverID(of note: Note, in store: SQLiteStore) async throws -> Int? {
    try await store.read { try $0.find(Note.self, in: "note", key: note.id)?.serverID }
  }

  @Test func `a note is saved and sent`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, client) = (try makeStore(), client())
    let note = Note(id: UUID(), text: "milk")
    let outbox = try await Outbox(
      store, client: client, operations: [CreateNote.self])
    outbox.start()

    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    let id = 1
    try await outbox.enqueue(.post("likes/\(id)"))
    let receipt = try await outbox.enqueue(CreateNote(note: note)).value
    #expect(receipt.id == 7)
    try await outbox.drain()
    #expect(try await serverID(of: note, in: store) == 7)
    let notes = store.values { db in
      let rows: [Note] = try db.query("SELECT * FROM note")
      let new = try outbox.waiting(CreateNote.self, in: db)
      return rows + new.map(\.operation.note)
    }
    for try await shown in notes {
      #expect(shown.map(\.text) == ["milk"])
      break
    }
    await outbox.stop()
  }

  @Test func `an outbox is tested with a mock and a clock`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, note) = (try makeStore(), Note(id: UUID(), text: "milk"))
    let clock = ManualClock()
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.post, "notes").respond(503).respond(201, json: Receipt(id: 7))
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock.requestClock
    let outbox = try await Outbox(
      store,
      client: NetworkClient(configuration: configuration, transport: mock),
      operations: [CreateNote.self],
      configuration: OutboxConfiguration(trust: .anyone))
    try await outbox.enqueue(CreateNote(note: note))

    #expect(try await outbox.drain().waiting == 1)
    clock.advance(by: .seconds(10))
    #expect(try await outbox.drain().isEmpty)
    #expect(mock.sent.count == 2)
  }

  @Test func `a server is recognized by a field`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try makeStore()
    let mock = MockTransport(baseURL: baseURL) { request in
      let isServer = request.url.path().contains("notes")
      return NetworkResponse(
        request: request, statusCode: 200,
        headers: isServer ? ["X-Request-Id": "1", "Content-Type": "application/json"] : [:],
        body: .data(Data(#"{"id": 7}"#.utf8)))
    }
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let outbox = try await Outbox(
      store, client: client, operations: [CreateNote.self],
      configuration: OutboxConfiguration(
        trust: .when { $0.headers["X-Request-Id"] != nil }))
    try await outbox.enqueue(CreateNote(note: Note(id: UUID(), text: "milk")))
    #expect(try await outbox.drain().isEmpty)
    try await outbox.enqueue(.post("likes/1"))
    #expect(try await outbox.drain().waiting == 1)
  }

  @Test func `a service has an account that each launch knows`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let robot = TokenSession(
      source: .closure(account: "stock-robot") { client in
        try await client.send(.post("token"))
      })
    let outbox = try await Outbox(
      makeStore(), client: client([.tokenAuth(robot)]), operations: [RenameNote.self])
    try await outbox.enqueue(RenameNote(id: UUID(), title: "milk"))
    // The server of this test gives no tokens.
    #expect(try await outbox.drain().waiting == 1)
  }

  @Test func `a refused edit is mended and put back`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try makeStore()
    let note = Note(id: UUID(), text: "milk", serverID: 7)
    try await store.write { try $0.save([note], into: "note") }
    let outbox = try await Outbox(store, client: client(), operations: [EditNote.self, RenameNote.self])
    try await outbox.enqueue(EditNote(id: note.id, text: String(repeating: "a", count: 200)))
    try await outbox.drain()
    #expect(try await outbox.deadLetters().count == 1)
    try await outbox.requeue(outbox.deadLetters().map(\.id))
    #expect(try await outbox.deadLetters().isEmpty)
    try await outbox.drain()
    for letter in try await outbox.deadLetters()
    where letter.name == EditNote.name {
      var edit = try letter.operation(EditNote.self)
      edit.text = String(edit.text.prefix(100))
      try await outbox.replace(letter.id, with: edit)
      try await outbox.requeue(letter.id)
    }
    #expect(try await outbox.drain().isEmpty)
    try await outbox.enqueue(RenameNote(id: note.id, title: String(repeating: "a", count: 200)))
    try await outbox.drain()
    for letter in try await outbox.deadLetters() {
      print(letter.name, letter.state)
      try await outbox.discard(letter.id)
    }
    #expect(try await outbox.deadLetters().isEmpty)
  }

  @Test func `waiting entries are delivered before a sign-out`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await session.signIn(AccessToken("token"), as: "ada")
    let outbox = try await Outbox(
      makeStore(), client: client([.tokenAuth(session)]), operations: [UploadPhoto.self])
    let note = Note(id: UUID(), text: "milk")
    let file = folder.appending(path: "photo.jpg")
    try Data("photo".utf8).write(to: file)
    let photo = try await outbox.attach(file, moving: true)
    try await outbox.enqueue(UploadPhoto(note: note.id, photo: photo))
    let left = try await outbox.drain(for: .seconds(10))
    if left.isEmpty || userAgrees(left.waiting) {
      try await session.signOut()
    }
    #expect(left.isEmpty)
  }

  private func userAgrees(_ waiting: Int) -> Bool { waiting == 0 }
}
