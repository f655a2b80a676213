import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An outbox on a disk that fails, is full, or loses its power.
@Suite(.limited) struct OutboxDiskTests {
  /// A server that notes the numbers and keys that arrive.
  private final class Server: Sendable {
    let arrived = Shared<[(number: Int, key: String)]>([])

    func client() throws -> NetworkClient {
      let mock = MockTransport { [arrived] request in
        let key = request.headers["Idempotency-Key"] ?? "none"
        arrived.change { $0.append((Int(request.url.lastPathComponent) ?? -1, key)) }
        return NetworkResponse(
          request: request, statusCode: 200, headers: ["X-API-Nonce": request.headers["X-API-Nonce"] ?? ""])
      }
      var configuration = RequestConfiguration(
        baseURL: URL(string: "https://api.example.com"), behaviors: [.nonceVerification()])
      configuration.clock = .immediate
      return NetworkClient(configuration: configuration, transport: mock)
    }

    /// The numbers by their first arrival.
    var numbers: [Int] {
      var seen: Set<Int> = []
      return arrived.value.map(\.number).filter { seen.insert($0).inserted }
    }

    var keysPerNumber: Set<Int> {
      Set(Dictionary(grouping: arrived.value, by: \.number).values.map { Set($0.map(\.key)).count })
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `any disk operation may fail once or forever, and acknowledged entries arrive in order`(
    lasts: Bool, isFull: Bool
  ) async throws {
    var (n, hasFailed) = (0, true)
    while hasFailed {
      n += 1
      let (vfs, folder, server) = (FaultVFS(), try TemporaryFolder(), Server())
      vfs.setFull(isFull)
      let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
      let outbox = try await Outbox(store, client: server.client(), operations: [Ping.self])
      vfs.fail(at: n, andAfter: lasts)
      var acknowledged: [Int] = []
      for number in 1...3 {
        do {
          try await outbox.enqueue(Ping(number: number, lane: "a"))
          acknowledged.append(number)
        } catch let error as SQLiteError { #expect(error.code == .io || error.code == .full, "\(error)") }
      }
      // An attempt that is over is recorded when the disk is well again.
      do { try await outbox.drain() } catch is SQLiteError {}
      hasFailed = vfs.heal()
      #expect(try await outbox.drain().isEmpty)
      #expect(server.numbers == acknowledged, "at operation \(n)")
      #expect(server.keysPerNumber.isSubset(of: [1]))
      await outbox.stop()
      await store.close()
    }
    #expect(n > 15)
  }

  @Test func `a full disk refuses new entries and keeps the others`() async throws {
    let (folder, server) = (try TemporaryFolder(), Server())
    let store = try SQLiteStore(path: folder.file())
    let outbox = try await Outbox(store, client: server.client(), operations: [Ping.self])
    try await store.write { db in
      let pages = try db.first("PRAGMA page_count", as: Int.self) ?? 0
      _ = try db.first(SQL(verbatim: "PRAGMA max_page_count = \(pages + 4)"), as: Int.self)
    }
    var acknowledged: [Int] = []
    var error: SQLiteError?
    while error == nil {
      let number = acknowledged.count + 1
      do {
        try await outbox.enqueue(Ping(number: number, lane: String(repeating: "lane ", count: 50)))
        acknowledged.append(number)
      } catch let full as SQLiteError { error = full }
    }
    #expect(error?.code == .full)
    #expect(!acknowledged.isEmpty)
    try await store.write { _ = try $0.first("PRAGMA max_page_count = 100000", as: Int.self) }
    #expect(try await outbox.drain().isEmpty)
    #expect(server.numbers == acknowledged)
  }

  @Test func `an entry that was acknowledged is in the file after a power cut`() async throws {
    let (vfs, folder, server) = (FaultVFS(recording: true), try TemporaryFolder(), Server())
    let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
    let outbox = try await Outbox(store, client: server.client(), operations: [Ping.self])
    let opened = vfs.position
    var acknowledged: [(id: UUID, position: Int)] = []
    for number in 0..<60 {
      let id = try await outbox.enqueue(Ping(number: number, lane: "lane \(number % 3)")).id
      acknowledged.append((id, vfs.position))
      if number % 7 == 6 { try await outbox.drain() }
      if number % 25 == 24 { try await store.checkpoint() }
    }
    await outbox.stop()
    await store.close()
    for seed in 0..<60 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let position = Int.random(in: opened...vfs.position, using: &random)
      let rest = try TemporaryFolder()
      try vfs.cut(at: position, seed: random.next(), to: rest.path)
      let left = try SQLiteStore(path: rest.file())
      let (ids, integrity) = try await left.read { db in
        (
          try db.query("SELECT id FROM outbox_entry", as: String.self),
          try db.query("PRAGMA integrity_check", as: String.self)
        )
      }
      let expected = acknowledged.filter { $0.position <= position }.map(\.id.uuidString)
      #expect(Set(expected).isSubset(of: ids), "seed \(seed)")
      #expect(integrity == ["ok"], "seed \(seed)")
    }
  }
}
