import Foundation

/// Whether one piece of work is still wanted.
final class Interruption: @unchecked Sendable {
  private let lock = NSLock()
  // Set under `lock`, so that nobody who comes meanwhile is lost.
  private let cancelled = AtomicFlag()
  // Protected by `lock`.
  private var waiting: CheckedContinuation<Void, any Error>?

  var isCancelled: Bool { cancelled.isSet }

  /// Notes who waits for the work, and is answered if it is cancelled before it begins; at once if that has happened.
  ///
  /// - Returns: Whether the work is still wanted.
  func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
    let isWanted = lock.withLock {
      if !isCancelled { waiting = continuation }
      return !isCancelled
    }
    if !isWanted { continuation.resume(throwing: CancellationError()) }
    return isWanted
  }

  /// Returns true when the work may begin; from then on ``isCancelled`` alone tells of a cancellation.
  func begin() -> Bool {
    lock.withLock {
      waiting = nil
      return !isCancelled
    }
  }

  func cancel() {
    let left = lock.withLock {
      defer { waiting = nil }
      cancelled.isSet = true
      return waiting
    }
    left?.resume(throwing: CancellationError())
  }
}

/// What all connections of a store share.
final class StoreState: Sendable {
  private let closed = AtomicFlag()
  private let suspended = AtomicFlag()
  let path: String
  let changes = ChangeHub()

  init(path: String) { self.path = path }

  var isSuspended: Bool { suspended.isSet }

  func close() { closed.isSet = true }

  func setSuspended(_ value: Bool) { suspended.isSet = value }

  /// Throws when no work may begin.
  func check() throws {
    if closed.isSet { throw SQLiteError(.misuse, "the store is closed; open another one", path: path) }
    if isSuspended { throw suspendedError }
  }

  var suspendedError: SQLiteError {
    SQLiteError(.interrupted, "the store is suspended; call resume() and try again", path: path)
  }
}
