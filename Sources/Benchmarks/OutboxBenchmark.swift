import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite

extension Benchmark {
  /// A benchmark of the outbox.
  static let outbox = Benchmark(
    name: "outbox",
    summary: "an Outbox: enqueueing by many callers, draining beside plain sends, and the cost of an entry among others"
  ) { effort in
    try await enqueuing(effort) + draining(effort) + delivering(effort)
  }

  private struct Ping: OutboxOperation {
    static let name = "ping"
    var number: Int
    /// A time in the future, for an entry that only waits.
    var notBefore: Date?
    var lane: String?
    var delivery: OutboxDelivery { OutboxDelivery(lane: lane, notBefore: notBefore) }

    func request(in db: Database) -> Request<Void> { .post("taken/\(number)") }
  }

  /// Responds at once.
  private struct Instant: Transport {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      var response = NetworkResponse(request: request, statusCode: 204)
      response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return response
    }

    func shutdown() async {}
  }

  /// The number of requests that an outbox sends at a time, and of the plain sends beside it.
  private static let concurrency = OutboxConfiguration().concurrency

  /// An outbox in a folder that is removed with the value.
  private final class OutboxFolder: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "OutboxBenchmark-\(UUID().uuidString)")
    let store: SQLiteStore
    let client: NetworkClient
    let outbox: Outbox

    /// Creates an outbox; without a server, each request has its response at once.
    init(server: URL? = nil) async throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try SQLiteStore(path: folder.appending(path: "outbox.sqlite").path(percentEncoded: false))
      client = NetworkClient(
        baseURL: server ?? URL(string: "https://api.example.com") ?? URL(filePath: "/"),
        behaviors: [.nonceVerification()], transport: server == nil ? Instant() : nil)
      outbox = try await Outbox(store, client: client, operations: [Ping.self])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Enqueues entries in one transaction.
    func enqueue(_ pings: [Ping]) async throws {
      try await outbox.write { db, queue in for ping in pings { try queue.enqueue(ping, in: db) } }
    }

    /// Enqueues entries while the outbox sends, and returns when they are delivered.
    func deliver(_ pings: [Ping]) async throws {
      let events = outbox.events()
      try await enqueue(pings)
      var left = pings.count
      for await event in events where event.kind == .delivered {
        left -= 1
        if left == 0 { break }
      }
    }
  }

  // MARK: Enqueueing

  private static func enqueuing(_ effort: Effort) async throws -> [Row] {
    let files = try await OutboxFolder()
    let (outbox, count, callers) = (files.outbox, effort.isQuick ? 320 : 1_280, 64)
    let works: [Measure.Work] = [
      { for number in 0..<count { try await outbox.enqueue(Ping(number: number)) } },
      { try await inParallel(count, callers) { try await outbox.enqueue(Ping(number: 0)) } },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    let gain = costs[1].speed(beside: costs[0])
    return [
      Row(label: "enqueue, one caller", figure: costs[0].typical.description),
      Row(
        label: "enqueue, \(callers) callers: times as many", figure: costs[1].typical.description, ratio: gain,
        target: .atLeast(10, gain)),
    ]
  }

  // MARK: Draining

  private static func draining(_ effort: Effort) async throws -> [Row] {
    var rows = try await draining(effort, nil, "a transport that responds at once")
    #if os(Linux) || os(macOS)
      let server = try QuickServer()
      defer { server.stop() }
      rows += try await draining(effort, server.small.deletingLastPathComponent(), "URLSession, \(server.name)")
    #endif
    return rows
  }

  /// Measures how many entries a drain delivers beside as many plain sends, with as many at a time.
  private static func draining(_ effort: Effort, _ server: URL?, _ transport: String) async throws -> [Row] {
    let (files, count) = (try await OutboxFolder(server: server), effort.isQuick ? 200 : 500)
    let (client, outbox) = (files.client, files.outbox)
    let works: [Measure.Work] = [
      { try await inParallel(count, concurrency) { try await client.send(Request<Void>.post("taken/1")) } },
      { try await outbox.drain() },
    ]
    // Entries are enqueued before each piece, and not measured. The plain sends leave them to the drain.
    let refill: Measure.Work = {
      let left = try await files.store.read { try outbox.summary(in: $0).waiting }
      try await files.enqueue((left..<count).map { Ping(number: $0) })
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, before: refill, works)
    await client.shutdown()
    let speed = costs[1].speed(beside: costs[0])
    return [
      Row(label: "plain sends, \(concurrency) at a time, \(transport)", figure: rate(costs[0].typical)),
      Row(
        label: "drained entries, \(concurrency) at a time, \(transport)", figure: rate(costs[1].typical),
        ratio: speed,
        // A send that needs no time is no yardstick for a transaction.
        target: server == nil ? nil : .atLeast(0.7, speed)),
    ]
  }

  private static func rate(_ cost: Cost) -> String {
    "\((1e9 / cost.nanoseconds).formatted(0))/s, \((cost.cpuNanoseconds / 1_000).formatted(0)) µs CPU, "
      + "\(cost.allocations.formatted(0)) allocations"
  }

  // MARK: Many entries

  /// Measures the delivery of 200 entries over a transport that responds at once, beside others that wait: half of them
  /// for their time, the others in lanes whose first entry waits for its time.
  private static func delivering(_ effort: Effort) async throws -> [Row] {
    let (count, depths) = (200, [100, 10_000, 100_000])
    var folders: [OutboxFolder] = []
    for depth in depths {
      let files = try await OutboxFolder()
      try await files.enqueue(
        (0..<depth).map { Ping(number: $0, notBefore: .distantFuture, lane: $0 % 2 == 0 ? nil : "lane \($0 % 100)") })
      files.outbox.start()
      folders.append(files)
    }
    let works = folders.map { files in
      let work: Measure.Work = { try await files.deliver((0..<count).map { Ping(number: $0) }) }
      return work
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    for files in folders { await files.outbox.stop() }
    return zip(depths, costs).enumerated().map { index, measured in
      let (depth, cost) = measured
      let ratio = cost.ratio(to: costs[0])
      return Row(
        label: "claim, send and settle an entry, \(depth) others wait", figure: cost.typical.cpuDescription,
        ratio: ratio, target: index == 0 ? nil : .atMost(2, ratio))
    }
  }
}
