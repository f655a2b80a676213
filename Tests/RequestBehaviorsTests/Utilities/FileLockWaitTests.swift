import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) final class FileLockWaitTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)")
  private var file: URL { folder.appending(path: "token.json.lock") }
  private let gate = TestGate()

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func mode(_ url: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func `one caller at a time has the lock of a file, also of two objects`() async throws {
    let (file, counts) = (file, Box((now: 0, most: 0, all: 0)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await FileLock(url: file, clock: .immediate).withLock {
            counts.update { $0 = (now: $0.now + 1, most: max($0.most, $0.now + 1), all: $0.all + 1) }
            await Task.yield()
            counts.update { $0.now -= 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(counts.value.most == 1)
    #expect(counts.value.all == 50)
  }

  @Test func `a lock waits and tries again after 1 to 50 milliseconds`() async throws {
    let (file, gate, clock) = (file, gate, ManualClock())
    let holder = Task { try await FileLock(url: file).withLock { await gate.pass() } }
    await gate.waitForArrivals(1)
    let second = Task { try await FileLock(url: file, clock: clock.requestClock).withLock { clock.now } }
    for pause in [1, 2, 4, 8, 16, 32, 50, 50] {
      await clock.waitForSleepers(1)
      clock.advance(by: .milliseconds(pause - 1))
      #expect(clock.sleeperCount == 1)
      clock.advance(by: .milliseconds(1))
    }
    await clock.waitForSleepers(1)
    gate.open()
    try await holder.value
    clock.advance(by: .milliseconds(50))
    #expect(try await second.value == .milliseconds(213))
  }

  @Test func `a cancelled wait ends, and leaves the lock to others`() async throws {
    let (file, gate, clock) = (file, gate, ManualClock())
    let holder = Task { try await FileLock(url: file).withLock { await gate.pass() } }
    await gate.waitForArrivals(1)
    let second = Task { try await FileLock(url: file, clock: clock.requestClock).withLock {} }
    await clock.waitForSleepers(1)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    gate.open()
    try await holder.value
    try await FileLock(url: file).withLock {}
  }

  @Test func `work that throws frees the lock`() async throws {
    await #expect(throws: CocoaError.self) {
      try await FileLock(url: file).withLock { throw CocoaError(.featureUnsupported) }
    }
    #expect(try await FileLock(url: file).withLock { 7 } == 7)
  }

  @Test func `the file and its folder are made for the user only, and stay`() async throws {
    try await FileLock(url: file).withLock {}
    #expect(try mode(file) == 0o600)
    #expect(try mode(folder) == 0o700)
    try await FileLock(url: file).withLock {}
    #expect(try Data(contentsOf: file).isEmpty)
  }

  @Test func `a lock on a file that was removed is not a lock on the new file`() async throws {
    let (file, gate) = (file, gate)
    let holder = Task { try await FileLock(url: file).withLock { await gate.pass() } }
    await gate.waitForArrivals(1)
    try FileManager.default.removeItem(at: file)
    try await FileLock(url: file).withLock {}
    #expect(FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
    gate.open()
    try await holder.value
  }

  @Test func `a place that can be no file is an error that names it`() async throws {
    let folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for url in [folder, try #require(URL(string: "https://example.com/lock"))] {
      let error = try await #require(throws: NetworkError.self) { try await FileLock(url: url).withLock {} }
      #expect(error.code == .tokenStoreFailed)
      #expect(error.message.contains(url.lastPathComponent))
    }
  }
}
