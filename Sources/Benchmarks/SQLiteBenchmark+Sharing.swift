import Dispatch
import Foundation
import RequestBehaviorsSQLite

/// A benchmark of how much many tasks slow each other down at one store.
extension Benchmark {
  /// Measures full-durability saves by many tasks: shared commits beside one commit for each.
  static func sharing(_ effort: Effort) async throws -> [Row] {
    let files = try BenchmarkFiles(items: BenchmarkItem.make(64))
    let (store, items, repeats) = (files.store, files.items, effort.isQuick ? 5 : 20)
    let saves = items.count * repeats
    let works: [Measure.Work] = [
      {
        for _ in 0..<repeats {
          for item in items {
            try await store.write(durability: .full) { _ = try $0.save(changed(item), into: "item") }
          }
        }
      },
      {
        try await savers(of: items, repeats) { item in
          try await store.write(durability: .full) { _ = try $0.save(changed(item), into: "item") }
        }
      },
      {
        try await savers(of: items, repeats) { item in
          _ = try await store.save([changed(item)], into: "item", durability: .full)
        }
      },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: saves, works)
    let gain = costs[2].speed(beside: costs[1])
    return [
      Row(label: "a full save, one saver", figure: costs[0].typical.description),
      Row(label: "a full save in a write of its own, 64 savers", figure: costs[1].typical.description),
      Row(
        label: "a full save by save(_:into:), 64 savers: times as many", figure: costs[2].typical.description,
        ratio: gain, target: .atLeast(7, gain)),
    ]
  }

  /// Saves by a task for each item.
  private static func savers(
    of items: [BenchmarkItem], _ repeats: Int, _ save: @escaping @Sendable (BenchmarkItem) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for item in items {
        group.addTask { for _ in 0..<repeats { try await save(item) } }
      }
      try await group.waitForAll()
    }
  }

  /// Returns the item with another time, because an unchanged row would cost nothing.
  private static func changed(_ item: BenchmarkItem) -> BenchmarkItem {
    var item = item
    item.updated = .random(in: 0...1e9)
    return item
  }

  /// Measures commits that a thousand loops watch, by whether they watch the written table or another one.
  static func watching(_ effort: Effort) async throws -> [Row] {
    // Two files, so that both writes take turns: otherwise the ratio would show changes of the disk's speed, too.
    let (files, watchedFiles) = try (
      BenchmarkFiles(items: BenchmarkItem.make(1)), BenchmarkFiles(items: BenchmarkItem.make(1))
    )
    let count = effort.scaled(1_000)
    let works = [files, watchedFiles].map { files -> Measure.Work in
      let (store, item) = (files.store, files.items[0])
      return { for _ in 0..<count { try await store.write { _ = try $0.save(changed(item), into: "item") } } }
    }
    let watchedStore = watchedFiles.store
    try await watchedStore.write { try $0.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") }
    let loops = (0..<1_000).map { _ in
      Task { for await _ in watchedStore.changes(in: "other") {} }
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    for loop in loops { loop.cancel() }
    let (alone, watched) = (costs[0], costs[1])
    let ratio = watched.ratio(to: alone)
    return [
      Row(label: "a write of one record", figure: alone.typical.cpuDescription),
      Row(
        label: "a write while 1,000 loops watch another table", figure: watched.typical.cpuDescription, ratio: ratio,
        target: .atMost(1.2, ratio)),
    ]
  }
}
