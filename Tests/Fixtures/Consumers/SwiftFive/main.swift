import Foundation
import RequestBehaviorsSQLite

// A consumer in Swift 5 mode, without strict concurrency, whose code is on the main actor: the store's work must not be.
struct Note: Codable {
  var id: Int
  var text: String
}

@MainActor final class Notes {
  private(set) var notes: [Note] = []
  private var shortest = 3
  private let store: SQLiteStore

  init(store: SQLiteStore) { self.store = store }

  func load() async throws -> [Bool] {
    try await store.write { db in try db.save([Note(id: 1, text: "one"), Note(id: 2, text: "")], into: "note") }
    let shortest = shortest
    notes = try await store.read { db in try db.query("SELECT * FROM note WHERE length(text) >= \(shortest)") }
    let reading = try await store.read { _ in Thread.isMainThread }
    let writing = try await store.write { _ in Thread.isMainThread }
    return [reading, writing]
  }
}

let store = try SQLiteStore(
  path: ":memory:",
  migrations: [SQLiteMigration("note") { db in try db.createTable("note", for: Note.self) }])
let model = Notes(store: store)
let onMainThread = try await model.load()
print("SwiftFive got \(model.notes.map(\.text)), on the main thread: \(onMainThread)")
exit(model.notes.map(\.text) == ["one"] && onMainThread == [false, false] ? 0 : 1)
