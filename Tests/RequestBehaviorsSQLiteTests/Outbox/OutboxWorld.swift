import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// A note of the user's own table.
struct Note: Codable, Equatable, Sendable {
  var id: UUID
  var text: String
  var serverID: Int?
}

/// The server's response to a new note.
struct Receipt: Codable, Equatable, Sendable {
  var id: Int
}

struct CreateNote: OutboxOperation {
  static let name = "note.create"
  var note: Note
  var delivery: OutboxDelivery { OutboxDelivery(lane: "note-\(note.id)") }

  func request(in db: Database) -> Request<Receipt> { .post("notes", body: .json(["text": note.text])) }

  func delivered(_ receipt: Receipt, in db: Database) throws {
    try db.execute("UPDATE note SET serverID = \(receipt.id) WHERE id = \(note.id)")
  }

  func rejected(_ failure: OutboxFailure, in db: Database) throws {
    try db.execute("DELETE FROM note WHERE id = \(note.id)")
  }
}

struct EditNote: OutboxOperation {
  static let name = "note.edit"
  var id: UUID
  var text: String
  var delivery: OutboxDelivery { OutboxDelivery(lane: "note-\(id)", identity: "edit-\(id)", repeats: .replaced) }

  func request(in db: Database) throws -> Request<Void> {
    guard let server = try db.find(Note.self, in: "note", key: id)?.serverID else { throw OutboxNotReady() }
    return .put("notes/\(server)", body: .json(["text": text]))
  }
}

/// An operation that contains only its number.
struct Ping: OutboxOperation {
  static let name = "ping"
  var number: Int
  var lane: String?
  var identity: String?
  var replaces = false
  var expires: Date?
  var delivery: OutboxDelivery {
    OutboxDelivery(lane: lane, identity: identity, repeats: replaces ? .replaced : .kept, expires: expires)
  }

  func request(in db: Database) -> Request<Void> { .post("pings/\(number)") }
}

/// A server that tests write: it gets each request and returns the status and the body.
typealias Script = @Sendable (NetworkRequest) async throws -> (status: Int, body: String)

/// A store, a server, a clock and outboxes over them.
struct OutboxWorld: Sendable {
  let folder: TemporaryFolder
  let store: SQLiteStore
  let mock: MockTransport
  let clock = ManualClock()

  static let notes = SQLiteMigration("note") { db in
    try db.execute("CREATE TABLE note (id BLOB PRIMARY KEY, text TEXT NOT NULL, serverID INTEGER)")
  }

  static let operations: [any OutboxOperation.Type] = [CreateNote.self, EditNote.self, Ping.self]

  init(_ mock: MockTransport, file: TemporaryFolder? = nil) throws {
    folder = try file ?? TemporaryFolder()
    store = try SQLiteStore(path: folder.file(), migrations: [Self.notes])
    self.mock = mock
  }

  /// A world whose server echoes the nonce of verification, unless the script returns a header of its own.
  init(_ script: @escaping Script = { _ in (200, #"{"id": 7}"#) }) throws {
    try self.init(
      MockTransport { request in
        let (status, body) = try await script(request)
        var response = NetworkResponse(
          request: request, statusCode: status, headers: ["Content-Type": "application/json"],
          body: .data(Data(body.utf8)))
        if let nonce = request.headers["X-API-Nonce"], request.headers["X-Portal"] == nil {
          response.headers["X-API-Nonce"] = nonce
        }
        return response
      })
  }

  func client(
    _ behaviors: [any RequestBehavior] = [], base: String = "https://api.example.com/"
  ) -> NetworkClient {
    var configuration = RequestConfiguration(
      baseURL: URL(string: base) ?? URL(filePath: "/"), behaviors: [.nonceVerification()] + behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  func outbox(
    _ client: NetworkClient? = nil, name: String = "", operations: [any OutboxOperation.Type] = Self.operations,
    _ configuration: OutboxConfiguration = OutboxConfiguration()
  ) async throws -> Outbox {
    try await Outbox(
      store, client: client ?? self.client(), name: name, operations: operations, configuration: configuration)
  }

  func outbox(_ configuration: OutboxConfiguration) async throws -> Outbox {
    try await outbox(nil, configuration)
  }

  /// The paths of the requests that were sent, in order.
  var sent: [String] { mock.sent.map { "\($0.method) \($0.url.path())" } }

  /// A number that a query of the file returns.
  func count(_ sql: SQL) async throws -> Int {
    try await store.read { try $0.first(sql, as: Int.self) } ?? 0
  }

  /// Lets seconds pass, one by one, until a condition is met.
  ///
  /// A second can pass just before a wait begins, so that no fixed number of them is enough.
  ///
  /// - Parameters:
  ///   - timers: The number of waits that are not those of the outbox's loop, such as the limit of a `drain`.
  ///   - isMet: The condition.
  func letTimePass(besides timers: Int = 0, until isMet: () async throws -> Bool) async rethrows {
    while try await !isMet() {
      if clock.sleeperCount > timers { clock.advance(by: .seconds(1)) }
      await Task.yield()
    }
  }

  /// The states of the entries, in order.
  var states: [Int] {
    get async throws {
      try await store.read { try $0.query("SELECT state FROM outbox_entry ORDER BY seq", as: Int.self) }
    }
  }
}

/// A list that tasks append to.
final class Shared<Value: Sendable>: @unchecked Sendable {
  // Each access is under the lock.
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func change<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&stored) } }
}

extension Shared<Int> {
  /// Counts one more and returns the number.
  func next() -> Int {
    change { number in
      number += 1
      return number
    }
  }
}
