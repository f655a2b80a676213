import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite

// Saves groups of rows for ever and tells of each on standard output once it is saved, until it is killed.
// Arguments: the file, the number of the first group, the step to the next, "full" or "normal".
// With "cache" as the last one it caches responses instead, as many as fit: what is evicted would look lost. With
// "cache-remove" or "cache-get" it shares a cache with another process; see SharedCache.swift. With "cache-full" it uses
// one on a full disk; see FullCache.swift.

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

/// Answers with a body that its URL tells: every third one is kept in a file of its own.
struct NumberTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let number = Int(request.url.lastPathComponent) ?? 0
    let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: number % 3 == 0 ? 100_000 : 1_000)
    return NetworkResponse(
      request: request, statusCode: 200, headers: ["Cache-Control": "max-age=86400"], body: .data(body))
  }

  func shutdown() async {}
}

func cacheResponses(_ arguments: [String]) async throws {
  guard let first = Int(arguments[2]), let step = Int(arguments[3]) else { exit(2) }
  let client = NetworkClient(
    baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"),
    behaviors: [.caching(try SQLiteCacheStore(path: arguments[1]))],
    transport: NumberTransport())
  for number in stride(from: first, to: first + 100 * step, by: step) {
    guard let url = URL(string: "https://api.example.com/\(number)") else { exit(2) }
    let response: NetworkResponse = try await client.send(.get(url: url))
    // What was not stored is not told.
    guard response.info[CacheFacts.self] != nil else { continue }
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
  }
  // The killer is late: it waits for at most 30 lines.
  let (silence, continuation) = AsyncStream<Never>.makeStream()
  for await _ in silence {}
  continuation.finish()
}

switch CommandLine.arguments.last {
case "cache": try await cacheResponses(CommandLine.arguments)
case "cache-remove": try await removeFromSharedCache(CommandLine.arguments)
case "cache-full": try await useFullCache(CommandLine.arguments)
case "cache-get": try await getThroughSharedCache(CommandLine.arguments)
default: try await saveForEver(CommandLine.arguments)
}
