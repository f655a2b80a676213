import Dispatch
import Foundation
import RequestBehaviorsSQLite
import TestSupport
import Testing

@Suite(.limited) struct CancellationTests {
  @Test func `a write that is cancelled while it waits for another ends at once and writes nothing`() async throws {
    let test = try TestStore()
    let store = test.store
    let gate = DispatchSemaphore(value: 0)
    let started = AsyncStream.makeStream(of: Void.self)
    let blocker = Task {
      try await store.write { _ in
        started.continuation.yield()
        gate.wait()
      }
    }
    for await _ in started.stream { break }
    let waiting = Task {
      try await store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.signal()
    try await blocker.value
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `a running statement is stopped, and the changes of its write are undone`() async throws {
    let test = try TestStore()
    let store = test.store
    let started = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await store.write { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        started.continuation.yield()
        try db.execute(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          INSERT INTO artwork (id, title) SELECT 1000 + max(i), 'never' FROM n
          """)
      }
    }
    for await _ in started.stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await test.artworks.isEmpty)
    try await store.write { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    #expect(try await test.artworks.count == 1)
  }

  @Test func `a read is stopped`() async throws {
    let test = try TestStore()
    let started = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await test.store.read { db in
        started.continuation.yield()
        return try db.query(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", as: Int.self)
      }
    }
    for await _ in started.stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `a write cancelled after its commit has begun reports success`() async throws {
    let test = try TestStore()
    let holder = Holder()
    let task = Task {
      try await test.store.write { db in
        // Runs after COMMIT, before the caller gets the outcome.
        try db.afterCommit { holder.cancel() }
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        return true
      }
    }
    holder.set { task.cancel() }
    #expect(try await task.value)
    #expect(try await test.artworks.count == 1)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `the reported outcomes match the file, whenever a cancellation happens`(seed: UInt64) async throws {
    let test = try TestStore()
    let store = test.store
    var generator = SeededGenerator(seed: seed)
    var saved: Set<Int> = []
    for id in 1...100 {
      let task = Task { try await store.write { _ = try $0.save(Artwork(id: id, title: "t"), into: "artwork") } }
      await generator.yield(upTo: 20)
      task.cancel()
      if case .success = await task.result { saved.insert(id) }
    }
    #expect(Set(try await test.artworks.map(\.id)) == saved)
  }
}

/// An action that one thread sets and another waits for.
final class Holder: Sendable {
  private let ready = DispatchSemaphore(value: 0)
  // Written before `ready` is signalled, read after.
  nonisolated(unsafe) private var action: () -> Void = {}

  func set(_ action: @escaping () -> Void) {
    self.action = action
    ready.signal()
  }

  func cancel() {
    ready.wait()
    action()
  }
}
