import Foundation

/// A value that is reached under a lock only, both in one allocation; copies share it.
///
/// An `NSLock` beside a value is two more, which counts for what every request makes: it has ten in all.
package struct Locked<Value: Sendable>: @unchecked Sendable {
  // Unchecked, because every access is under the lock that stands beside the value.
  private final class Buffer: ManagedBuffer<Value, pthread_mutex_t> {
    deinit { withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) } }
  }

  private var buffer: ManagedBuffer<Value, pthread_mutex_t>

  /// Creates a value that nobody uses.
  ///
  /// - Parameter value: The value, made in its place.
  package init(_ value: @autoclosure () -> Value) {
    buffer = Buffer.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { mutex in
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
      }
      return value()
    }
  }

  /// Reads or changes the value while no other thread does.
  ///
  /// - Parameter change: What to do with the value; it must be short, and must not use the same lock.
  /// - Returns: What the closure returns.
  package func withLock<Result>(_ change: (inout Value) throws -> Result) rethrows -> Result {
    try buffer.withUnsafeMutablePointers { value, mutex in
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try change(&value.pointee)
    }
  }

  /// Whether nobody else can reach the value.
  package var isOnlyReference: Bool { mutating get { isKnownUniquelyReferenced(&buffer) } }
}
