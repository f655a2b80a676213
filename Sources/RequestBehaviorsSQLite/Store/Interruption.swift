import Foundation

/// Whether one piece of work is still wanted.
final class Interruption: @unchecked Sendable {
  private let lock = NSLock()
  // Set under `lock`, so that an action registered meanwhile is not lost.
  private let cancelled = AtomicFlag()
  // Protected by `lock`.
  private var whenCancelled: (() -> Void)?

  var isCancelled: Bool { cancelled.isSet }

  /// Registers what to do if the work is cancelled before it begins; it is done at once if that has happened.
  func wait(whenCancelled action: @escaping () -> Void) {
    let isTooLate = lock.withLock {
      if !isCancelled { whenCancelled = action }
      return isCancelled
    }
    if isTooLate { action() }
  }

  /// Returns true when the work may begin; from then on ``isCancelled`` alone tells of a cancellation.
  func begin() -> Bool {
    lock.withLock {
      whenCancelled = nil
      return !isCancelled
    }
  }

  func cancel() {
    let action = lock.withLock {
      defer { whenCancelled = nil }
      cancelled.isSet = true
      return whenCancelled
    }
    action?()
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
