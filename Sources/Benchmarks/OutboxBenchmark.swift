import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite

extension Benchmark {
  /// A benchmark of the outbox.
  static let outbox = Benchmark(
    name: "outbox",
    summary: "an Outbox: enqueueing by many callers, and the cost of an entry by the number of those that wait"
  ) { effort in
    try await enqueuing(effort) + delivering(effort)
  }

  private struct Ping: OutboxOperation {
    static let name = "ping"
    var number: Int
    /// A time in the future, for an entry that only waits.
    var notBefore: Date?
    var delivery: OutboxDelivery { OutboxDelivery(notBefore: notBefore) }

    func request(in db: Database) -> Request<Void> { .post("pings/\(number)") }
  }

  /// Responds at once.
  private struct Instant: Transport {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      NetworkResponse(request: request, statusCode: 204)
    }

    func shutdown() async {}
  }

  /// An outbox in a folder that is removed with the value.
  private final class OutboxFolder: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "OutboxBenchmark-\(UUID().uuidString)")
    let store: SQLiteStore
    let client: NetworkClient
    let outbox: Outbox

    init() async throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try SQLiteStore(path: folder.appending(path: "outbox.sqlite").path(percentEncoded: false))
      client = NetworkClient(
        baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"), transport: Instant())
      outbox = try await Outbox(
        store, client: client, operations: [Ping.self], configuration: OutboxConfiguration(trust: .anyone))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
  }

  private static func enqueuing(_ effort: Effort) async throws -> [Row] {
    let files = try await OutboxFolder()
    let (outbox, count, callers) = (files.outbox, effort.isQuick ? 320 : 1_280, 64)
    let works: [Measure.Work] = [
      { for number in 0..<count { try await outbox.enqueue(Ping(number: number)) } },
      {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<callers {
            group.addTask { for number in 0..<count / callers { try await outbox.enqueue(Ping(number: number)) } }
          }
          try await group.waitForAll()
        }
      },
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

  /// Measures the delivery of 200 entries over a transport that responds at once, beside others that wait.
  private static func delivering(_ effort: Effort) async throws -> [Row] {
    let (count, depths) = (200, effort.isQuick ? [100, 10_000] : [100, 10_000, 100_000])
    var folders: [OutboxFolder] = []
    for depth in depths {
      let files = try await OutboxFolder()
      try await files.outbox.write { db, queue in
        for number in 0..<depth { try queue.enqueue(Ping(number: number, notBefore: .distantFuture), in: db) }
      }
      folders.append(files)
    }
    let works = folders.map { files in
      let work: Measure.Work = {
        try await files.outbox.write { db, queue in
          for number in 0..<count { try queue.enqueue(Ping(number: number), in: db) }
        }
        try await files.outbox.drain()
      }
      return work
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    return zip(depths, costs).enumerated().map { index, measured in
      let (depth, cost) = measured
      let ratio = cost.ratio(to: costs[0])
      return Row(
        label: "claim, send and settle an entry, \(depth) others wait", figure: cost.typical.description,
        ratio: ratio, target: index == 0 ? nil : .atMost(2, ratio))
    }
  }
}
