import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The right to refresh, which one store of a file and name has at a time.
@Suite(.limited) struct SQLiteTokenLeaseTests {
  private let folder: TemporaryFolder
  private let clock = ManualClock()

  init() throws { folder = try TemporaryFolder() }

  private func store(_ name: String = "default") throws -> SQLiteTokenStore {
    SQLiteTokenStore(try SQLiteStore(path: folder.file()), name: name, clock: clock.requestClock)
  }

  private struct Row: Codable, Equatable {
    var name: String
    var owner: String
    var until: Double
  }

  private func rows() async throws -> [Row] {
    try await SQLiteStore(path: folder.file()).read { try $0.query("SELECT * FROM access_token_refresh") }
  }

  private func change(_ sql: @escaping @Sendable (Database) throws -> Void) async throws {
    _ = try await SQLiteStore(path: folder.file()).write { try sql($0) }
  }

  @Test func `a lease lasts 30 seconds, is renewed after 10, and is given back`() async throws {
    let start = clock.date.timeIntervalSince1970
    let store = try store()
    try await store.withLock {
      #expect((try? await rows().map(\.until)) == [start + 30])
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(10))
      await clock.waitForSleepers(1)
      #expect((try? await rows().map(\.until)) == [start + 40])
    }
    #expect(try await rows() == [])
  }

  @Test func `a read that begins within a refresh succeeds after its end`() async throws {
    let file = try SQLiteStore(path: folder.file(), configuration: SQLiteConfiguration(maximumReaders: 1))
    let store = SQLiteTokenStore(file, clock: clock.requestClock)
    try await store.save(AccessToken("t1"))
    let held = HeldWork()
    let holding = Task { try await file.read { _ in held.hold() } }
    await held.isHeld()
    let reading = Locked<Task<AccessToken?, any Error>?>(nil)
    try await store.withLock {
      let task = await queue { try await store.load() }
      reading.withLock { $0 = task }
    }
    held.letGo()
    try await holding.value
    #expect(try await reading.withLock { $0 }?.value?.value == "t1")
  }

  @Test func `a lease that could not be released in a suspended store can be taken at once`() async throws {
    let file = try SQLiteStore(path: folder.file())
    let store = SQLiteTokenStore(file, clock: clock.requestClock)
    try await store.withLock { await file.suspend() }
    file.resume()
    #expect(try await rows().count == 1)
    // On a clock that does not advance, a wait for the lease would never end.
    for store in [store, try self.store()] { try await store.withLock {} }
    #expect(try await rows() == [])
  }

  @Test func `a store waits for the lease of another, and leases of two names are independent`() async throws {
    let (first, second, other) = (try store(), try store(), try store("other"))
    let order = Locked<[String]>([])
    try await first.withLock {
      try? await other.withLock { order.withLock { $0.append("other") } }
      let waiting = Task { try await second.withLock { order.withLock { $0.append("second") } } }
      // The renewal of the first, and the second's wait.
      await clock.waitForSleepers(2)
      order.withLock { $0.append("first") }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    try await second.withLock { order.withLock { $0.append("again") } }
    #expect(order.withLock { $0 } == ["other", "first", "again"])
  }

  @Test(arguments: [(-0.001, false), (0, false), (1, true), (60, true), (60.5, false)])
  func `a lease ends at its time, and one whose end is too far away is ignored`(seconds: Double, isTaken: Bool)
    async throws
  {
    try await store().withLock {}
    let until = clock.date.timeIntervalSince1970 + seconds
    try await change { try $0.execute("INSERT INTO access_token_refresh VALUES ('default', 'elsewhere', \(until))") }
    let ran = Locked(false)
    let store = try store()
    let task = Task { try await store.withLock { ran.withLock { $0 = true } } }
    if isTaken {
      await clock.waitForSleepers(1)
      #expect(!ran.withLock { $0 })
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    } else {
      try await task.value
      #expect(ran.withLock { $0 })
    }
  }

  @Test(arguments: [-86_400, -61, 31, 86_400.0])
  func `a lease that is held is not given to another store when the clock is set`(jump: TimeInterval) async throws {
    let (first, second) = (try store(), try store())
    let ran = Locked(false)
    let (held, released) = (Waiter<Void>(), Waiter<Void>())
    let holding = Task {
      try await first.withLock {
        held.settle(.success(()))
        try? await released.value()
      }
    }
    try await held.value()
    // It waits within the lease, so that one that is taken too early is seen.
    let other = Task {
      try await second.withLock {
        ran.withLock { $0 = true }
        try? await clock.requestClock.sleep(for: .seconds(1_000))
      }
    }
    // The renewal of the first, and the second's wait.
    await clock.waitForSleepers(2)
    clock.setDate(clock.date.addingTimeInterval(jump))
    for _ in 1...200 {
      clock.advance(by: .milliseconds(200))
      await clock.waitForSleepers(2)
    }
    #expect(!ran.withLock { $0 })
    released.settle(.success(()))
    try await holding.value
    while !ran.withLock({ $0 }) {
      clock.advance(by: .milliseconds(200))
      await Task.yield()
    }
    other.cancel()
    try await other.value
    #expect(try await rows() == [])
  }

  @Test func `a store that lost its lease does not read the token, and does not take the lease back`() async throws {
    let store = try store()
    try await store.save(AccessToken("t"))
    try await store.withLock {
      #expect((try? await store.load()?.value) == "t")
      try? await change { try $0.execute("UPDATE access_token_refresh SET owner = 'other'") }
      let error = await #expect(throws: NetworkError.self) { try await store.load() }
      #expect(error?.code == .tokenStoreFailed)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(10))
      await clock.waitForSleepers(1)
    }
    #expect(try await rows().map(\.owner) == ["other"])
    #expect(try await rows().map(\.until) == [1_577_836_830])
    #expect(try await store.load()?.value == "t")
  }

  @Test func `a lease is given back although the work's task is cancelled`() async throws {
    let store = try store()
    let started = Waiter<Void>()
    let task = Task {
      try await store.withLock {
        started.settle(.success(()))
        try? await clock.requestClock.sleep(for: .seconds(100))
      }
    }
    try await started.value()
    task.cancel()
    try await task.value
    #expect(try await rows() == [])
  }

  @Test func `a token is replaced in one transaction if the stored token is the expected one`() async throws {
    let store = try store()
    #expect(try await store.replace(AccessToken("a"), with: AccessToken("b")) == false)
    #expect(try await store.replace(nil, with: AccessToken("a")))
    #expect(try await store.replace(nil, with: AccessToken("b")) == false)
    #expect(try await store.replace(AccessToken("a"), with: AccessToken("b")))
    #expect(try await store.load()?.value == "b")
    #expect(try await store.replace(AccessToken("b"), with: nil))
    #expect(try await store.load() == nil)
  }

  @Test func `a database in memory does not need a lease`() async throws {
    let store = SQLiteTokenStore(try SQLiteStore(path: ":memory:"))
    let ran = Locked(0)
    try await store.withLock {
      try? await store.withLock { ran.withLock { $0 += 1 } }
    }
    #expect(ran.withLock { $0 } == 1)
  }

  @Test func `reading a token removes the permissions of others from its file`() async throws {
    let store = try store()
    try await store.save(AccessToken("t"))
    for file in ["", "-wal", "-shm"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.file() + file)
    }
    #expect(try await store.load()?.value == "t")
    for file in ["", "-wal", "-shm"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file() + file)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }
}
