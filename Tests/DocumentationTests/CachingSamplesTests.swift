import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// The samples of "Caching".
@Suite(.limited) final class CachingSamplesTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite").path()

  deinit {
    for suffix in ["", "-wal", "-shm", "-bodies"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  @Test func `clients have a cache in memory or in a file`() throws {
    let cache = MemoryCacheStore(capacity: 32 << 20)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(cache)])
    let file = try SQLiteCacheStore(path: path, capacity: 64 << 20)
    let durable = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(file)])
    var policy = CachePolicy()
    policy.staleIfError = .seconds(7 * 86_400)
    let sturdy = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(cache, policy: policy)])
    let watched = CachingBehavior(cache) { event in
      if event.kind == .notStored {
        print(event.refusal ?? .status, event.request)
      }
    }
    #expect(watched.order == .caching)
    let store = try SQLiteStore(path: ":memory:")
    let saving = SaveBehavior.saveRecords(
      [Issue].self, into: "issue", in: store, cached: .skip)
    #expect(saving.order == .persistence)
    for client in [client, durable, sturdy] {
      #expect(try client.pipeline(for: Request<User>.get("me")).entries.contains { $0.behavior is CachingBehavior })
    }
  }

  @Test func `a request says how it uses the cache`() async throws {
    let mock = answering("[]", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(baseURL: baseURL, behaviors: [.caching(MemoryCacheStore())], transport: mock)
    let response: NetworkResponse = try await client.send(.get("feed"))
    print(response.source, response.info[CacheFacts.self]?.age ?? .zero)
    // Past what is stored, as a pull to refresh.
    let fresh: [Issue] = try await client.send(
      .get("issues").with(\.caching, .reload))
    // Whatever is there, however old, else the network.
    let quick: [Issue] = try await client.send(
      .get("issues").with(\.caching, .preferStale))
    #expect(fresh.isEmpty)
    #expect(quick.isEmpty)
    #expect(mock.sent.count == 2)
  }
}

/// Seals and opens what an app keeps; on Apple systems this would be `AES.GCM` of CryptoKit.
struct Cipher: Sendable {
  func seal(_ data: Data) throws -> Data { Data(data.map { $0 ^ 0x5A }) }
  func open(_ data: Data) throws -> Data { try seal(data) }
}

/// Keeps responses in a file, sealed by a cipher of the app's own.
actor SealedCacheStore: CacheStore {
  private let file: URL, cipher: Cipher
  private var contents: CacheContents
  nonisolated let digestKey: Data
  nonisolated let maximumBodySize = 100_000

  init(file: URL, capacity: Int, cipher: Cipher) {
    (self.file, self.cipher) = (file, cipher)
    // A file that can no longer be opened is an empty cache.
    let data = (try? cipher.open(Data(contentsOf: file))) ?? Data()
    let decoder = PropertyListDecoder()
    contents =
      (try? decoder.decode(CacheContents.self, from: data))
      ?? CacheContents(capacity: capacity)
    digestKey = contents.digestKey
  }

  /// Changes the contents and writes them.
  private func change<Result>(
    _ work: (inout CacheContents) -> Result
  ) throws -> Result {
    let result = work(&contents)
    let data = try PropertyListEncoder().encode(contents)
    try cipher.seal(data).write(to: file, options: .atomic)
    return result
  }

  func response(for key: CacheKey, matching request: HeaderFields)
    -> StoredResponse?
  { contents.response(for: key, matching: request) }

  func mark() -> CacheMark { contents.mark }

  func save(
    _ response: StoredResponse, for key: CacheKey,
    matching request: HeaderFields, since mark: CacheMark
  ) throws -> CacheSaving {
    try change {
      $0.save(response, for: key, matching: request, since: mark)
    }
  }

  func save(
    _ response: StoredResponse, for key: CacheKey,
    matching request: HeaderFields
  ) throws -> Int {
    try change {
      $0.save(response, for: key, matching: request).evicted
    }
  }

  func update(
    _ old: StoredResponse, to new: StoredResponse, for key: CacheKey
  ) throws { try change { $0.update(old, to: new, for: key) } }

  func remove(_ response: StoredResponse, for key: CacheKey) throws {
    try change { $0.remove(response, for: key) }
  }

  func removeAll(url: String) throws {
    try change { $0.removeAll(url: url) }
  }

  func removeAll(scope: String) throws {
    try change { $0.removeAll(scope: scope) }
  }

  func removeAll() throws { try change { $0.removeAll() } }

  func entries(limit: Int) -> [CacheEntry] {
    contents.entries(limit: limit)
  }
}

extension CachingSamplesTests {
  @Test func `a store that keeps responses encrypted conforms`() async throws {
    let cipher = Cipher()
    let report = await CacheStoreConformance.run(
      excluding: CacheStoreConformance.cases(
        about: .sharing, excludedBecause: "one object has the file")
    ) { place in
      SealedCacheStore(
        file: place.folder.appending(path: "cache"),
        capacity: place.capacity, cipher: cipher)
    }
    #expect(report.failures.isEmpty, "\(report)")
  }

  @Test
  func `an encrypted store keeps its responses when it is reopened, and its file does not show them in plain text`()
    async throws
  {
    let file = URL(filePath: path)
    let mock = answering("[]", headers: ["Cache-Control": "max-age=60"])
    func send() async throws -> ResponseSource {
      let store = SealedCacheStore(file: file, capacity: 1 << 20, cipher: Cipher())
      let client = NetworkClient(baseURL: baseURL, behaviors: [.caching(store)], transport: mock)
      let response: NetworkResponse = try await client.send(.get("feed"))
      return response.source
    }
    #expect(try await send() == .mock)
    #expect(try await send() == .cache)
    #expect(try Data(contentsOf: file).range(of: Data("max-age".utf8)) == nil)
    try Data("damaged".utf8).write(to: file)
    #expect(try await send() == .mock)
  }
}
