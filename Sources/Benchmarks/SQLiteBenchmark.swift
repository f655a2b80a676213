import Dispatch
import Foundation
import RequestBehaviorsSQLite

extension Benchmark {
  /// A benchmark of the work that the store adds to SQLite's own.
  static let sqlite = Benchmark(
    name: "sqlite",
    summary: "a SQLiteStore, beside the same work with prepared statements through the C API: processor time a row"
  ) { effort in
    let files = try BenchmarkFiles(items: BenchmarkItem.make(10_000))
    return try await saving(files, effort.rounds) + reading(files, effort.rounds) + hopping(files, effort)
      + resaving(files) + sharing(effort) + watching(effort) + gaps(files, effort.rounds)
  }

  private static func saving(_ files: BenchmarkFiles, _ rounds: Int) async throws -> [Row] {
    let (store, baseline, items, json) = (files.store, files.baseline, files.items, files.json)
    let works: [Measure.Work] = [
      { baseline.upsert(items) },
      { try await store.write { _ = try $0.save(items, into: "item") } },
      { try await store.write { db in for item in items { try db.save(item, into: "item") } } },
      { try await store.write { _ = try $0.ingest(json, into: "item") } },
      { _ = try JSONDecoder().decode([BenchmarkItem].self, from: json) },
      {
        let decoded = try JSONDecoder().decode([BenchmarkItem].self, from: json)
        try await store.write { _ = try $0.save(decoded, into: "item") }
      },
    ]
    let costs = try await Measure.sideBySide(
      rounds: rounds, count: items.count, before: { try await files.empty() }, works)
    let ratios = costs.map { $0.ratio(to: costs[0]) }
    let beyond = costs[5].excess(over: costs[4]) / costs[0].leastCPUNanoseconds
    return [
      row("an upsert through the C API", costs[0]),
      row("save of 10,000 records", costs[1], ratios[1], .atMost(1.3, ratios[1])),
      row("10,000 saves of one record, in one write", costs[2], ratios[2]),
      row("ingest of 10,000 JSON objects", costs[3], ratios[3], .atMost(2, ratios[3])),
      row("JSONDecoder alone", costs[4], ratios[4]),
      row("JSONDecoder and save", costs[5], ratios[5]),
      Row(label: "  of which not JSONDecoder", figure: "", ratio: beyond, target: .atMost(1.3, beyond)),
    ]
  }

  private static func reading(_ files: BenchmarkFiles, _ rounds: Int) async throws -> [Row] {
    let (store, baseline, items) = (files.store, files.baseline, files.items)
    try await files.fill()
    let all: SQL = "SELECT * FROM item"
    let keys = items.indices.map { ($0 * 7_919) % items.count }
    let works: [Measure.Work] = [
      { consume(baseline.scan()) },
      { consume(baseline.fetch().count) },
      { consume(try await store.read { try $0.query(all) { try BenchmarkItem(numbered: $0) }.count }) },
      { consume(try await store.read { try $0.query(all) { try BenchmarkItem(named: $0) }.count }) },
      { consume(try await store.read { try $0.query(all, as: BenchmarkItem.self).count }) },
      { consume(baseline.get(keys)) },
      { consume(baseline.fetch(keys)) },
      {
        try await store.read { db in
          for key in keys { consume(try db.find(in: "item", key: key) { try BenchmarkItem(numbered: $0) }?.id ?? 0) }
        }
      },
      {
        try await store.read { db in
          for key in keys { consume(try db.find(BenchmarkItem.self, in: "item", key: key)?.id ?? 0) }
        }
      },
    ]
    let costs = try await Measure.sideBySide(rounds: rounds * 5, count: items.count, works)
    let (scan, records, get, record) = (costs[0], costs[1], costs[5], costs[6])
    let query = costs[2].ratio(to: scan)
    let decoded = costs[4].ratio(to: records)
    let find = costs[7].ratio(to: get)
    // The GRDB ratios were measured with GRDB 7.10 on the same rows beside the same C loops.
    return [
      row("a row whose columns are read through the C API", scan),
      row("a row read into a record through the C API", records, records.ratio(to: scan)),
      row("query with a closure, by number (GRDB init(row:): 2.1-2.3)", costs[2], query, .atMost(2.3, query)),
      row("query with a closure, by name", costs[3], costs[3].ratio(to: scan)),
      row("query of Codable records (GRDB: 5.2)", costs[4], costs[4].ratio(to: scan)),
      Row(
        label: "  beside records through the C API", figure: "", ratio: decoded, target: .atMost(2.0, decoded)),
      row("a row by its key whose columns are read through the C API", get),
      row("a row by its key read into a record through the C API", record, record.ratio(to: get)),
      row("find with a closure (GRDB statement: 1.16)", costs[7], find, .atMost(1.4, find)),
      row("find of a Codable record (GRDB fetchOne(key:): 15)", costs[8], costs[8].ratio(to: get)),
    ]
  }

  private static func hopping(_ files: BenchmarkFiles, _ effort: Effort) async throws -> [Row] {
    let store = files.store
    let queue = DispatchQueue(label: "hop")
    let count = effort.scaled(20_000)
    let works: [Measure.Work] = [
      {
        for _ in 0..<count {
          await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
        }
      },
      { for _ in 0..<count { try await store.read { _ in } } },
      {
        for _ in 0..<count {
          consume(try await store.read { try $0.find(BenchmarkItem.self, in: "item", key: 7)?.id ?? 0 })
        }
      },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    let ratio = costs[1].ratio(to: costs[0])
    let added = costs[1].excess(over: costs[0])
    return [
      row("queue.async and a continuation", costs[0]),
      row("a read that runs no statement", costs[1], ratio, .atMost(1.6, ratio)),
      Row(label: "  of which the store's own", figure: "\(added.formatted(0)) ns"),
      row("a read of one record by its key", costs[2]),
    ]
  }

  private static func resaving(_ files: BenchmarkFiles) async throws -> [Row] {
    let items = files.items
    try await files.fill()
    try await files.store.checkpoint()
    try await files.store.write { _ = try $0.save(items, into: "item") }
    let written = files.sizeOfWAL
    return [
      Row(
        label: "saving 10,000 unchanged records again", figure: "\(written) WAL bytes",
        target: .atMost(0, Double(written), "bytes"))
    ]
  }

  private static func row(
    _ label: String, _ costs: [Cost], _ ratio: Double? = nil, _ target: Row.Target? = nil
  ) -> Row {
    Row(label: label, figure: costs.typical.cpuDescription, ratio: ratio, target: target)
  }

  /// Keeps the optimizer from leaving out the work that makes the value.
  @inline(never)
  private static func consume(_ value: Int) {}
}

extension Benchmark {
  /// Measures the longest time for which a task that only yields does not run, while two stores save.
  private static func gaps(_ files: BenchmarkFiles, _ rounds: Int) async throws -> [Row] {
    let items = files.items
    let other = try BenchmarkFiles(items: items)
    var quiet: [Double] = []
    var raw: [Double] = []
    var busy: [Double] = []
    for _ in 0..<rounds {
      try await files.empty()
      try await other.empty()
      quiet.append(try await longestGap { try await Task.sleep(for: .milliseconds(20)) })
      raw.append(
        try await longestGap {
          async let first: Void = upsert(files)
          async let second: Void = upsert(other)
          _ = await (first, second)
        })
      busy.append(
        try await longestGap {
          async let first: Void = files.store.write { _ = try $0.save(items, into: "item") }
          async let second: Void = other.store.write { _ = try $0.save(items, into: "item") }
          _ = try await (first, second)
        })
    }
    let (saving, ratio) = (busy.median, busy.median / raw.median)
    return [
      Row(label: "longest gap of a task, nothing else to do", figure: "\(quiet.median.formatted(2)) ms"),
      Row(
        label: "longest gap of a task while two threads save through the C API",
        figure: "\(raw.median.formatted(2)) ms"),
      Row(
        label: "longest gap of a task while two stores save", figure: "\(saving.formatted(2)) ms", ratio: ratio,
        target: .atMost(2, saving, "ms")),
    ]
  }

  /// Saves the items through the C API on its own thread.
  private static func upsert(_ files: BenchmarkFiles) async {
    await withUnsafeContinuation { continuation in
      DispatchQueue(label: "upsert").async {
        files.baseline.upsert(files.items)
        continuation.resume()
      }
    }
  }

  /// Returns the longest time in milliseconds between two turns of a task, while the work runs.
  private static func longestGap(during work: Measure.Work) async throws -> Double {
    let probe = Task.detached {
      var longest = Duration.zero
      var last = ContinuousClock.now
      while !Task.isCancelled {
        await Task.yield()
        let now = ContinuousClock.now
        longest = max(longest, last.duration(to: now))
        last = now
      }
      return longest
    }
    try await work()
    probe.cancel()
    return await probe.value.nanoseconds / 1e6
  }
}

/// A store and a connection of the C API, each with its own file.
final class BenchmarkFiles: Sendable {
  let items: [BenchmarkItem]
  let json: Data
  let store: SQLiteStore
  let baseline: SQLiteBaseline
  private let folder: String

  init(items: [BenchmarkItem]) throws {
    self.items = items
    json = try JSONEncoder().encode(items)
    folder = NSTemporaryDirectory() + "RequestBehaviorsBenchmarks-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let table = SQLiteMigration("item") { try $0.execute(script: BenchmarkItem.table) }
    store = try SQLiteStore(path: folder + "/store.sqlite", migrations: [table])
    baseline = SQLiteBaseline(path: folder + "/baseline.sqlite")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Deletes all rows on both sides.
  func empty() async throws {
    baseline.run("DELETE FROM item; PRAGMA wal_checkpoint(TRUNCATE)")
    try await store.write { _ = try $0.execute("DELETE FROM item") }
    try await store.checkpoint()
  }

  /// Saves the items on both sides.
  func fill() async throws {
    let items = items
    try await empty()
    baseline.upsert(items)
    try await store.write { _ = try $0.save(items, into: "item") }
    baseline.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try await store.checkpoint()
  }

  var sizeOfWAL: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: store.path + "-wal")
    return (attributes?[.size] as? NSNumber)?.intValue ?? -1
  }
}
