internal import CRequestBehaviorsSQLite
import RequestBehaviors

/// The cancellation of one unit of work.
final class Interruption: Sendable {
  /// When the work was put into its queue.
  let queuedAt: ContinuousClock.Instant
  // Set under the lock of `waiting`, so that no waiting continuation is missed.
  private let cancelled = AtomicFlag()
  private let waiting = Locked<CheckedContinuation<Void, any Error>?>(nil)

  init(queuedAt: ContinuousClock.Instant = .now) { self.queuedAt = queuedAt }

  var isCancelled: Bool { cancelled.isSet }

  /// Keeps a continuation and resumes it if the work is cancelled before it begins; resumes it at once if it already
  /// was.
  ///
  /// - Returns: Whether the work was not cancelled.
  func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
    let isWanted = waiting.withLock { waiting in
      if !isCancelled { waiting = continuation }
      return !isCancelled
    }
    if !isWanted { continuation.resume(throwing: CancellationError()) }
    return isWanted
  }

  /// Returns whether the work may begin; a later cancellation only sets ``isCancelled``.
  func begin() -> Bool {
    waiting.withLock { waiting in
      waiting = nil
      return !isCancelled
    }
  }

  func cancel() {
    let left = waiting.withLock { waiting in
      defer { waiting = nil }
      cancelled.isSet = true
      return waiting
    }
    left?.resume(throwing: CancellationError())
  }
}

/// A flag that any thread may set and read.
///
/// It is read before each statement. A lock there would cost as much as a tenth of finding a row by its key.
final class AtomicFlag: @unchecked Sendable {
  // Every access of the memory is atomic.
  private let memory = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  init() { memory.initialize(to: 0) }

  deinit { memory.deallocate() }

  var isSet: Bool {
    get { rb_flag_is_raised(memory) != 0 }
    set { rb_flag_set(memory, newValue ? 1 : 0) }
  }
}
