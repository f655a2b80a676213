import Foundation

/// The stores whose work a thread does; one may be used in the closure of another.
///
/// Kept by the thread itself: a task-local value would go on to tasks that the closure begins, which run elsewhere and later.
enum ActiveStores {
  private struct Frame {
    let store: ObjectIdentifier
    let outer: UnsafeMutableRawPointer?
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Whether this thread does the store's work.
  static func contains(_ store: ObjectIdentifier) -> Bool {
    var next = pthread_getspecific(key)
    while let frame = next?.assumingMemoryBound(to: Frame.self).pointee {
      if frame.store == store { return true }
      next = frame.outer
    }
    return false
  }

  /// Runs the store's work.
  static func with<T>(_ store: ObjectIdentifier, _ work: () throws -> T) rethrows -> T {
    let outer = pthread_getspecific(key)
    var frame = Frame(store: store, outer: outer)
    return try withUnsafeMutablePointer(to: &frame) { frame in
      pthread_setspecific(key, frame)
      defer { pthread_setspecific(key, outer) }
      return try work()
    }
  }
}
