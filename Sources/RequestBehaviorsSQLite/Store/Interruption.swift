import Foundation

/// Whether one piece of work is still wanted.
final class Interruption: @unchecked Sendable {
  // All state is protected by `lock`.
  private let lock = NSLock()
  private var cancelled = false
  private var whenCancelled: (() -> Void)?

  var isCancelled: Bool { lock.withLock { cancelled } }

  /// Registers what to do if the work is cancelled before it begins; it is done at once if that has happened.
  func wait(whenCancelled action: @escaping () -> Void) {
    let isTooLate = lock.withLock {
      if !cancelled { whenCancelled = action }
      return cancelled
    }
    if isTooLate { action() }
  }

  /// Returns true when the work may begin; from then on ``isCancelled`` alone tells of a cancellation.
  func begin() -> Bool {
    lock.withLock {
      whenCancelled = nil
      return !cancelled
    }
  }

  func cancel() {
    let action = lock.withLock {
      defer { whenCancelled = nil }
      cancelled = true
      return whenCancelled
    }
    action?()
  }
}

/// What all connections of a store share.
final class StoreState: @unchecked Sendable {
  // `closed` and `suspended` are protected by `lock`.
  private let lock = NSLock()
  private var closed = false
  private var suspended = false
  let path: String
  let changes = ChangeHub()

  init(path: String) { self.path = path }

  var isSuspended: Bool { lock.withLock { suspended } }

  func close() { lock.withLock { closed = true } }

  func setSuspended(_ value: Bool) { lock.withLock { suspended = value } }

  /// Throws when no work may begin.
  func check() throws {
    let (closed, suspended) = lock.withLock { (self.closed, self.suspended) }
    if closed { throw SQLiteError(.misuse, "the store is closed; open another one", path: path) }
    if suspended { throw suspendedError }
  }

  var suspendedError: SQLiteError {
    SQLiteError(.interrupted, "the store is suspended; call resume() and try again", path: path)
  }
}
