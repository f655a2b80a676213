import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite

extension Benchmark {
  /// A benchmark of the cost of using a stored response, and whether it depends on the number of responses.
  static let cache = Benchmark(
    name: "cache",
    summary:
      "responses from the cache, beside the empty pipeline, a plain read of SQLite and a round trip: processor time"
  ) { effort in
    let files = try CacheFiles()
    return try await hits(files, effort) + decisions(effort) + sizes(files, effort)
  }

  private static func hits(_ files: CacheFiles, _ effort: Effort) async throws -> [Row] {
    let count = effort.scaled(2_000)
    let server = try Server()
    defer { server.stop() }
    let empty = NetworkClient(baseURL: baseURL, transport: NullTransport())
    let remote = NetworkClient(baseURL: server.baseURL)
    var works: [Measure.Work] = [
      { for _ in 0..<count { try await empty.send(.get("x")) } },
      { for _ in 0..<max(1, count / 20) { try await remote.send(.get("x")) } },
    ]
    for size in [1 << 10, 64 << 10] {
      let memory = try await warm(MemoryCacheStore(), size)
      let file = try await warm(files.store(), size)
      // The read takes the place of the network: between requests, waking the thread that reads costs far more than in
      // a loop that only reads.
      let plain = NetworkClient(baseURL: baseURL, transport: ReadingTransport(store: try await files.plain(size)))
      works += [
        { for _ in 0..<count { try await memory.send(.get("x")) } },
        { for _ in 0..<count { try await plain.send(.get("x")) } },
        { for _ in 0..<count { try await file.send(.get("x")) } },
      ]
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds * 3, count: count, works)
    let trip = costs[1].leastCPUNanoseconds * Double(count) / Double(max(1, count / 20))
    let small = costs[2].ratio(to: costs[0])
    let file = costs[4].excess(over: costs[0]) / costs[3].excess(over: costs[0])
    let large = costs[7].excess(over: costs[0]) / costs[6].excess(over: costs[0])
    return [
      Row(label: "no behavior, nothing sent", figure: costs[0].typical.cpuDescription),
      Row(label: "a round trip to a loopback server", figure: "\((trip / 1_000).formatted(1)) µs"),
      Row(
        label: "a hit in memory, 1 KiB", figure: costs[2].typical.cpuDescription, ratio: small,
        target: .atMost(1.8, small), former: .atMost(2, small)),
      Row(
        label: "a hit in memory, 64 KiB", figure: costs[5].typical.cpuDescription, ratio: costs[5].ratio(to: costs[0])),
      Row(label: "SQLite: a plain read of 1 KiB instead of the network", figure: costs[3].typical.cpuDescription),
      Row(label: "  a hit of 1 KiB", figure: costs[4].typical.cpuDescription),
      Row(label: "  without the pipeline, beside the read", figure: "", ratio: file, target: .atMost(1.5, file)),
      Row(label: "SQLite: a plain read of 64 KiB instead of the network", figure: costs[6].typical.cpuDescription),
      Row(label: "  a hit of 64 KiB", figure: costs[7].typical.cpuDescription),
      Row(label: "  without the pipeline, beside the read", figure: "", ratio: large, target: .atMost(1.5, large)),
    ]
  }

  private static func decisions(_ effort: Effort) async throws -> [Row] {
    let count = 100_000
    let now = Date(timeIntervalSince1970: 1_767_225_600)
    let terms = StoredTerms(responseTime: now, initialAge: 1, lifetime: 60)
    let costs = try await Measure.sideBySide(
      rounds: effort.rounds, count: count,
      [
        {
          var fresh = 0
          for second in 0..<count {
            let later = now.addingTimeInterval(Double(second % 90))
            if case .use = ReuseDecision.decide(CacheDemand(), stored: terms, hasValidator: true, now: later) {
              fresh += 1
            }
          }
          blackHole(fresh)
        }
      ])
    return [Row(label: "a decision", figure: costs[0].typical.cpuDescription)]
  }

  /// Measures hits among few and many entries, and stores in which each response evicts another.
  private static func sizes(_ files: CacheFiles, _ effort: Effort) async throws -> [Row] {
    let (few, many) = (1_000, effort.scaled(100_000))
    var rows: [Row] = []
    for (label, stores) in [
      ("in memory", [few, many].map { MemoryCacheStore(capacity: $0 * CacheFiles.entrySize) as any CacheStore }),
      ("in SQLite", try [few, many].map { try files.store(capacity: $0 * CacheFiles.entrySize) }),
    ] {
      let clients = stores.map { store in
        NetworkClient(baseURL: baseURL, behaviors: [.caching(store)], transport: StorableTransport(size: 100))
      }
      for (client, count) in zip(clients, [few, many]) { try await fill(client, count) }
      let numbers = Numbers()
      let count = effort.scaled(1_000)
      let hits = try await Measure.sideBySide(
        rounds: effort.rounds, count: count,
        zip(clients, [few, many]).map { client, size in
          { for index in 0..<count { try await client.send(.get("\(size - 1 - index % (size / 4))")) } }
        })
      let evictions = try await Measure.sideBySide(
        rounds: effort.rounds, count: count,
        clients.map { client in { for _ in 0..<count { try await client.send(.get("new/\(numbers.next())")) } } })
      let (hit, eviction) = (hits[1].ratio(to: hits[0]), evictions[1].ratio(to: evictions[0]))
      rows += [
        Row(label: "a hit \(label) among \(few)", figure: hits[0].typical.cpuDescription),
        Row(label: "  among \(many)", figure: hits[1].typical.cpuDescription, ratio: hit, target: .atMost(2, hit)),
        Row(
          label: "a response stored \(label) in place of another, of \(few)",
          figure: evictions[0].typical.cpuDescription),
        Row(
          label: "  of \(many)", figure: evictions[1].typical.cpuDescription, ratio: eviction,
          target: .atMost(2, eviction)),
      ]
    }
    return rows
  }

  private static func fill(_ client: NetworkClient, _ count: Int) async throws {
    for index in 0..<count { try await client.send(.get("\(index)")) }
  }

  private static func warm(_ store: any CacheStore, _ size: Int) async throws -> NetworkClient {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(store)], transport: StorableTransport(size: size))
    try await client.send(.get("x"))
    return client
  }
}

/// A transport that responds at once, with a response that may be stored.
struct StorableTransport: Transport {
  let body: Data

  init(size: Int) { body = Data(repeating: 7, count: size) }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    NetworkResponse(
      request: request, statusCode: 200,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "max-age=86400", "ETag": "\"0123456789abcdef\"",
      ], body: .data(body))
  }

  func shutdown() async {}
}

/// A transport that responds with a row of a table and does nothing else.
struct ReadingTransport: Transport {
  let store: SQLiteStore

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let body = try await store.read { db in
      try db.first("SELECT data FROM plain WHERE id = 7") { row in try row[0] as Data }
    }
    return NetworkResponse(request: request, statusCode: 200, body: .data(body ?? Data()))
  }

  func shutdown() async {}
}

/// The benchmark's own files, which are removed with the value.
final class CacheFiles: Sendable {
  /// The approximate size for which an entry of 100 bytes counts.
  static let entrySize = 700

  private let folder = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var path: String { folder.appending(path: UUID().uuidString).path(percentEncoded: false) }

  func store(capacity: Int = 64 << 20) throws -> SQLiteCacheStore {
    try SQLiteCacheStore(path: path, capacity: capacity, maximumBodySize: 1 << 20)
  }

  /// A table that holds only bodies.
  func plain(_ size: Int) async throws -> SQLiteStore {
    let store = try SQLiteStore(
      path: path,
      migrations: [
        SQLiteMigration("plain") { try $0.execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, data BLOB NOT NULL)") }
      ])
    try await store.write { db in
      for id in 0..<10 {
        try db.execute("INSERT INTO plain (id, data) VALUES (\(id), \(Data(repeating: 7, count: size)))")
      }
    }
    return store
  }
}

/// A counter.
private final class Numbers: Sendable {
  private let last = Locked(0)

  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
