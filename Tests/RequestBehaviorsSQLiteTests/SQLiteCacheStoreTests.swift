import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// A cache in a file, a clock that stands, and a server that numbers its responses.
struct CacheBench {
  let folder: TemporaryFolder
  let clock = ManualClock(date: Date(timeIntervalSince1970: 1_767_225_600))
  private let server = CacheServer()
  let store: SQLiteCacheStore

  init(
    _ folder: TemporaryFolder, capacity: Int = 10 << 20, maximumBodySize: Int? = nil,
    configuration: SQLiteConfiguration = SQLiteConfiguration()
  ) throws {
    self.folder = folder
    store = try SQLiteCacheStore(
      path: folder.file("cache.sqlite"), capacity: capacity, maximumBodySize: maximumBodySize,
      clock: clock.requestClock, configuration: configuration)
  }

  init() throws { try self.init(TemporaryFolder()) }

  /// Answers everything with a body, and a condition that fits with a 304.
  func serve(_ body: String, _ headers: HeaderFields = ["Cache-Control": "max-age=60"]) {
    server.reply.value = (body, headers)
  }

  func client(_ onEvent: (@Sendable (CacheEvent) -> Void)? = nil) -> NetworkClient {
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com"), behaviors: [.caching(store, onEvent: onEvent)])
    configuration.clock = clock.requestClock
    configuration.options.acceptableStatuses = .all
    return NetworkClient(configuration: configuration, transport: server)
  }

  func send(_ path: String = "a", _ mode: CachingMode = .standard) async throws -> NetworkResponse {
    try await client().send(.get(RequestPath(encoded: path)).with(\.caching, mode))
  }

  var bodyFiles: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.file("cache.sqlite-bodies"))) ?? []
  }
}

private final class CacheServer: Transport {
  let reply = Box((body: "", headers: HeaderFields()))

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let (body, headers) = reply.value
    let isConfirmed = headers["ETag"] != nil && request.headers["If-None-Match"] == headers["ETag"]
    return NetworkResponse(
      request: request, statusCode: isConfirmed ? 304 : 200, headers: headers,
      body: isConfirmed ? .empty : .data(Data(body.utf8)))
  }

  func shutdown() async {}
}

@Suite(.limited) struct SQLiteCacheStoreTests {
  @Test func `a clock without a date does not end the process`() async throws {
    let bench = try CacheBench()
    bench.serve("one")
    bench.clock.setDate(Date(timeIntervalSince1970: .nan))
    #expect(try await bench.send().text == "one")
    try await bench.store.removeAll()
  }

  @Test func `of the variants of a URL that differ in every request the latest 64 are kept`() async throws {
    let bench = try CacheBench()
    bench.serve("body", ["Cache-Control": "max-age=60", "Vary": "X-Request-ID"])
    for number in 1...70 { try await bench.client().send(.get("a", headers: ["X-Request-ID": "\(number)"])) }
    let kept = try await bench.store.entries(limit: 200).compactMap { $0.response.variant.fields.first?.value }
    #expect(Set(kept) == Set((7...70).map { "\($0)" }))
  }

  @Test func `of too many variants the least recently used one is evicted`() async throws {
    let bench = try CacheBench()
    bench.serve("body", ["Cache-Control": "max-age=60", "Vary": "X-Request-ID"])
    func send(_ number: Int) async throws -> ResponseSource {
      let response: NetworkResponse = try await bench.client().send(.get("a", headers: ["X-Request-ID": "\(number)"]))
      return response.source
    }
    for number in 0..<64 { _ = try await send(number) }
    #expect(try await send(0) == .cache)
    #expect(try await send(64) == .network)
    #expect(try await send(0) == .cache)
    #expect(try await send(1) == .network)
  }

  @Test func `uses are written once for 256 responses, without anything that is stored`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    for number in 0..<256 { _ = try await bench.send("\(number)") }
    func oldest() async throws -> String? { try await bench.store.entries(limit: .max).last?.key.url }
    for number in 1..<256 { _ = try await bench.send("\(number)") }
    _ = try await bench.send("1")
    #expect(try await oldest()?.hasSuffix("/0") == true)
    let commits = bench.store.database.values { db in
      try db.first("SELECT url FROM entry ORDER BY last_used LIMIT 1", as: String.self)
    }
    _ = try await bench.send("0")
    for try await url in commits where url?.hasSuffix("/2") == true { break }
    // The last one of the 256 was used last.
    #expect(try await bench.store.entries(limit: 2).map(\.key.url.last) == ["0", "1"])
  }

  @Test func `a response that is stored after the clock was set back is not evicted first`() async throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 500_000, maximumBodySize: 400_000)
    bench.serve(String(repeating: "x", count: 100_000))
    for path in ["a", "b", "c"] { _ = try await bench.send(path) }
    let earlier = ManualClock(date: Date(timeIntervalSince1970: 1_000_000_000))
    let store = try SQLiteCacheStore(
      path: bench.store.path, capacity: 500_000, maximumBodySize: 400_000, clock: earlier.requestClock)
    let client = bench.client().with { $0.behaviors = [.caching(store)] }
    for path in ["d", "e"] as [RequestPath] { _ = try await client.send(.get(path)) as NetworkResponse }
    #expect(try await store.entries(limit: 9).compactMap(\.key.url.last) == ["e", "d", "c", "b"])
  }

  @Test func `a stored response is used after the file was closed and opened again, as it was`() async throws {
    let folder = try TemporaryFolder()
    let headers: HeaderFields = [
      "Cache-Control": "max-age=600, stale-if-error=5, stale-while-revalidate=6", "ETag": "\"a\"", "X": "ä: b",
      "Vary": "Foo, Bar",
    ]
    let first = try CacheBench(folder)
    first.serve("body", headers)
    let stored = try await first.send()
    await first.store.close()

    let second = try CacheBench(folder)
    second.clock.advance(by: .seconds(7))
    let response = try await second.send()
    #expect(response.source == .cache)
    #expect(try response.text == "body")
    #expect(response.headers["X"] == "ä: b")
    #expect(response.headers["Age"] == "7")
    #expect(response.headers["Date"] == stored.headers["Date"] ?? response.headers["Date"])
    #expect(response.info[CacheFacts.self]?.freshnessLeft == .seconds(593))
    let entry = try #require(try await second.store.entries(limit: 9).first)
    #expect(entry.response.variant.fields.map(\.name) == ["bar", "foo"])
    #expect(entry.bodySize == 4)
    // Another variant of the same URL.
    second.serve("other", headers)
    let other: NetworkResponse = try await second.client().send(.get("a", headers: ["Foo": "1"]))
    #expect(try other.text == "other")
    #expect(try await second.send().text == "body")
  }

  @Test func `a 304 updates the row and leaves the body alone`() async throws {
    let bench = try CacheBench()
    bench.serve("body", ["Cache-Control": "max-age=60", "ETag": "\"a\""])
    _ = try await bench.send()
    bench.clock.advance(by: .seconds(61))
    let response = try await bench.send()
    #expect(response.source == .revalidated)
    #expect(try response.text == "body")
    #expect(try await bench.send().source == .cache)
    #expect(try await bench.store.entries(limit: 9).count == 1)
  }

  @Test func `a response takes as much room after a 304 as before`() async throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 100_000, maximumBodySize: 50_000)
    bench.serve(String(repeating: "x", count: 40_000), ["Cache-Control": "max-age=60", "ETag": "\"a\""])
    _ = try await bench.send("a")
    bench.clock.advance(by: .seconds(61))
    #expect(try await bench.send("a").source == .revalidated)
    _ = try await bench.send("b")
    #expect(try await bench.store.entries(limit: 9).count == 2)
  }

  @Test(arguments: [0, 1, 65_536, 65_537, 300_000])
  func `a body of any length comes back whole, a large one from a file of its own`(count: Int) async throws {
    let bench = try CacheBench()
    let body = String(repeating: "x", count: count)
    bench.serve(body)
    _ = try await bench.send()
    let response = try await bench.send()
    #expect(response.source == .cache)
    #expect(try response.text == body)
    #expect(bench.bodyFiles.count == (count > 65_536 ? 1 : 0))
    try await bench.store.removeAll()
    #expect(bench.bodyFiles.isEmpty)
  }

  @Test func `the least recently used response is evicted first with its files, and a hit counts as a use`()
    async throws
  {
    let bench = try CacheBench(TemporaryFolder(), capacity: 500_000, maximumBodySize: 400_000)
    bench.serve(String(repeating: "x", count: 100_000))
    for path in ["a", "b", "c", "d"] {
      _ = try await bench.send(path)
      bench.clock.advance(by: .seconds(1))
    }
    bench.clock.advance(by: .seconds(60))
    _ = try await bench.send("a", .onlyIfCached)
    let events = Box<[Int]>([])
    let client = bench.client { if $0.count > 0 { events.append($0.count) } }
    _ = try await client.send(.get("e")) as NetworkResponse
    // To nine tenths of the capacity.
    #expect(events.value == [1])
    #expect(try await bench.send("a", .onlyIfCached).statusCode == 504)
    bench.clock.advance(by: .seconds(60))
    #expect(try await bench.send("b", .preferStale).source != .stale)
    #expect(bench.bodyFiles.count == 4)
  }

  @Test func `a response that is too large for the store is not stored`() async throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 500_000, maximumBodySize: 10)
    bench.serve("0123456789A")
    _ = try await bench.send()
    #expect(try await bench.store.entries(limit: 9).isEmpty)
  }

  @Test func `a response that fills the store to its last byte is kept, one of a byte more is not`() async throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 10_000)
    let key = CacheKey(url: "https://api.example.com/a", scopes: [], discriminator: "")
    func response(_ count: Int) -> StoredResponse {
      StoredResponse(
        statusCode: 200, headers: [:], body: Data(count: count), variant: CacheVariant(fields: []), storedAt: Date(),
        terms: StoredTerms(responseTime: Date(), initialAge: 0, lifetime: 60))
    }
    let count = 10_000 - response(0).size
    for (count, isKept) in [(count, true), (count + 1, false)] {
      _ = try await bench.store.save(response(count), for: key, matching: [:])
      #expect(try await bench.store.entries(limit: 9).map(\.bodySize) == (isKept ? [count] : []))
    }
  }

  @Test func `of many removals the latest 1,000 are remembered`() async throws {
    let bench = try CacheBench()
    try await bench.store.database.write { db in
      for number in 0..<1_500 { try db.execute("INSERT INTO removal (what) VALUES (\(number))") }
    }
    try await bench.store.removeAll(url: "https://api.example.com/a")
    let count = try await bench.store.database.read { try $0.first("SELECT count(*) FROM removal", as: Int.self) }
    #expect(count == 1_000)
  }

  @Test func `the maximum size of a body is at most that of the store`() throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 1_000, maximumBodySize: 5_000)
    #expect(bench.store.maximumBodySize == 1_000)
    #expect(bench.store.capacity == 1_000)
  }

  @Test func `of many variants only the body of the used one is read`() async throws {
    let statements = Box<[String]>([])
    let bench = try CacheBench(
      TemporaryFolder(), configuration: SQLiteConfiguration(trace: { event in statements.append(event.sql) }))
    bench.serve("body", ["Cache-Control": "max-age=60", "Vary": "Foo"])
    for number in 0..<20 { try await bench.client().send(.get("a", headers: ["Foo": "\(number)"])) }
    statements.value = []
    let response: NetworkResponse = try await bench.client().send(.get("a", headers: ["Foo": "7"]))
    #expect(response.source == .cache)
    let reads = statements.value.filter { $0.hasPrefix("SELECT") }
    #expect(reads.filter { $0.contains("FROM body") } == ["SELECT body FROM body WHERE id = ?"])
    #expect(reads.count == 2)
  }

  @Test func `a URL, a scope and everything can be removed`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    let users = ["alice", "bob"].map { user in
      bench.client().with { $0.behaviors.append(ScopeBehavior(user: user)) }
    }
    for client in users + [bench.client()] {
      for path in ["a", "b"] as [RequestPath] { _ = try await client.send(.get(path)) as NetworkResponse }
    }
    func keys() async throws -> [String] {
      try await bench.store.entries(limit: 9).map { "\($0.key.scopes) \($0.key.url.suffix(1))" }.sorted()
    }
    #expect(try await keys().count == 6)
    try await bench.store.removeAll(scope: "alice")
    #expect(try await keys() == ["[\"bob\"] a", "[\"bob\"] b", "[] a", "[] b"])
    try await bench.store.removeAll(url: "https://api.example.com/a")
    #expect(try await keys() == ["[\"bob\"] b", "[] b"])
    try await bench.store.removeAll()
    #expect(try await keys().isEmpty)
  }

  @Test func `the name of a user may have a line break of any kind`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    let names = ["a\r\nbob", "a\r", "a\n\u{301}", "\\\u{301}\\n"]
    for name in names {
      let client = bench.client().with { $0.behaviors.append(ScopeBehavior(user: name)) }
      _ = try await client.send(.get("a")) as NetworkResponse
    }
    try await bench.store.removeAll(scope: "bob")
    let kept = try await bench.store.entries(limit: 9).flatMap(\.key.scopes)
    #expect(Set(kept.map { Data($0.utf8) }) == Set(names.map { Data($0.utf8) }))
  }

  @Test func `a field that selected a response is read back whatever mark begins its value`() async throws {
    let bench = try CacheBench()
    bench.serve("body", ["Cache-Control": "max-age=60", "Vary": "X-Region"])
    func send(_ region: String) async throws -> NetworkResponse {
      try await bench.client().send(.get("a", headers: ["X-Region": region]))
    }
    _ = try await send("\u{301}eu")
    #expect(try await send("us").source == .network)
    #expect(try await send("\u{301}eu").source == .cache)
  }

  @Test func `a hit does not write`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    _ = try await bench.send()
    func walSize() -> Int {
      (try? FileManager.default.attributesOfItem(atPath: bench.store.path + "-wal")[.size] as? Int) ?? 0
    }
    let before = walSize()
    for _ in 0..<20 { #expect(try await bench.send().source == .cache) }
    #expect(walSize() == before)
  }

  @Test func `secrets of requests are not in the file`() async throws {
    let bench = try CacheBench()
    bench.serve("body", ["Cache-Control": "max-age=60", "Vary": "Authorization"])
    let request = Request<NetworkResponse>.get("a", headers: ["Authorization": "Bearer canary"])
    _ = try await bench.client().send(request)
    #expect(try await bench.client().send(request).source == .cache)
    await bench.store.close()
    for file in ["cache.sqlite", "cache.sqlite-wal"] {
      let data = (try? Data(contentsOf: URL(filePath: bench.folder.file(file)))) ?? Data()
      #expect(data.range(of: Data("canary".utf8)) == nil)
    }
  }
}

struct ScopeBehavior: RequestBehavior {
  let user: String
  func scope(for request: NetworkRequest) -> String? { user }
}

/// A value that several tasks change.
final class Box<Value: Sendable>: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func append<Element>(_ element: Element) where Value == [Element] { lock.withLock { stored.append(element) } }
}
