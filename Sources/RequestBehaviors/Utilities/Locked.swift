package import Foundation

/// A value that is accessible only under a lock, both in one allocation; copies share it.
///
/// An `NSLock` beside the value would cost two more allocations, which counts in a request that makes ten in all.
package struct Locked<Value: Sendable>: @unchecked Sendable {
  // Unchecked, because every access is under the lock that is stored with the value.
  @usableFromInline
  final class Buffer: ManagedBuffer<Value, pthread_mutex_t> {
    deinit { withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) } }
  }

  @usableFromInline
  var buffer: ManagedBuffer<Value, pthread_mutex_t>

  /// Creates an unlocked value.
  ///
  /// - Parameter value: The value; it is evaluated once, to initialize the storage.
  package init(_ value: @autoclosure () -> Value) {
    buffer = Buffer.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { mutex in
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
      }
      return value()
    }
  }

  /// Reads or changes the value while no other thread accesses it.
  ///
  /// - Parameter change: The access to the value; it must be short, and must not use the same lock.
  /// - Returns: The result of the closure.
  // Inlinable, because the other modules of the package would call it unspecialized.
  @inlinable
  package func withLock<Result>(_ change: (inout Value) throws -> Result) rethrows -> Result {
    try buffer.withUnsafeMutablePointers { value, mutex in
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try change(&value.pointee)
    }
  }

  /// Whether two copies share one value.
  func isSame(as other: Locked) -> Bool { buffer === other.buffer }

  /// Whether no other copy refers to the value.
  package var isOnlyReference: Bool { mutating get { isKnownUniquelyReferenced(&buffer) } }
}
