import Foundation

/// Locks on open files that other processes respect (`flock`).
///
/// The system frees a lock when the descriptor is closed, so also when the process ends in any way. A second descriptor
/// of the same process does not share it.
package enum FileLock {
  /// What became of an attempt to lock a file.
  package enum Outcome: Sendable {
    /// The file is locked until the descriptor is closed.
    case taken
    /// Another descriptor has the lock.
    case busy
    /// The file system has no locks, as some network file systems.
    case unsupported
  }

  /// Locks a file if nothing else has it locked; does not wait.
  ///
  /// - Parameter descriptor: The open file.
  /// - Returns: Whether it is locked.
  package static func take(_ descriptor: Int32) -> Outcome {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return .busy
      default: return .unsupported
      }
    }
    return .taken
  }
}
