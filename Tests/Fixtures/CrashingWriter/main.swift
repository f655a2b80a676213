import Foundation
import RequestBehaviorsSQLite

// Saves groups of rows for ever and tells of each on standard output once it is saved, until it is killed.
// Arguments: the file, the number of the first group, the step to the next, "full" or "normal".

struct Member: Codable, Sendable {
  var id: Int
  var group: Int
  var text: String
}

func saveForEver(_ arguments: [String]) async throws {
  guard arguments.count == 5, let first = Int(arguments[2]), let step = Int(arguments[3]) else { exit(2) }
  let store = try SQLiteStore(
    path: arguments[1],
    migrations: [
      SQLiteMigration("member") { db in
        try db.execute("CREATE TABLE member (id INTEGER PRIMARY KEY, \"group\" INTEGER NOT NULL, text TEXT NOT NULL)")
      }
    ])
  let durability: SQLiteDurability = arguments[4] == "full" ? .full : .normal
  for group in stride(from: first, to: .max, by: step) {
    let members = (0..<5).map { Member(id: group * 5 + $0, group: group, text: String(repeating: "text ", count: 100)) }
    try await store.write(durability: durability) { db in
      // In two halves, so that a transaction that is not one would show.
      try db.save(Array(members[..<2]), into: "member")
      try db.save(Array(members[2...]), into: "member")
    }
    FileHandle.standardOutput.write(Data("\(group)\n".utf8))
  }
}

try await saveForEver(CommandLine.arguments)
