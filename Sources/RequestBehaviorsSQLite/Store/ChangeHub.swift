import Foundation

/// Tells whoever listens which tables a commit touched.
final class ChangeHub: @unchecked Sendable {
  // What follows is protected by `lock`.
  private let lock = NSLock()
  private var listeners: [Int: (tables: Set<String>, continuation: AsyncStream<Void>.Continuation)] = [:]
  private var nextID = 0
  private var isFinished = false

  /// Returns a stream that ticks after each commit that touched one of the tables; no tables means any.
  func stream(of tables: Set<String>) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id: Int? = lock.withLock {
      if isFinished { return nil }
      nextID += 1
      listeners[nextID] = (tables, continuation)
      return nextID
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return stream
  }

  func publish(_ touched: Set<String>) {
    let due = lock.withLock {
      listeners.values.filter { $0.tables.isEmpty || !$0.tables.isDisjoint(with: touched) }.map { $0.continuation }
    }
    for continuation in due { continuation.yield() }
  }

  func finish() {
    let all = lock.withLock {
      isFinished = true
      defer { listeners = [:] }
      return listeners.values.map { $0.continuation }
    }
    for continuation in all { continuation.finish() }
  }

  var listenerCount: Int { lock.withLock { listeners.count } }

  private func remove(_ id: Int) { _ = lock.withLock { listeners.removeValue(forKey: id) } }
}
