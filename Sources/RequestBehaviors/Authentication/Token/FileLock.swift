public import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock between processes: a file that at most one process has locked (`flock(2)`).
///
/// Use it for a resource that several processes share, such as the storage of your own ``TokenStore``:
///
/// ```swift
/// private let lock = FileLock(
///   url: folder.appending(path: "token.lock"))
///
/// func withRefreshLock(_ work: RefreshWork) async throws {
///   try await lock.withLock { await work() }
/// }
/// ```
///
/// The system releases the lock when the process ends, however it ends. A stopped process keeps it. Two objects for one
/// file exclude each other, also in one process. Work under the lock must not acquire the same lock again. The file is
/// empty, readable by the user only, and never removed. Use a separate file for the lock, never one that is replaced.
/// The work runs without a lock if the file system does not support locks, or if no file can be created because the
/// file system is full or read-only.
///
/// On iOS, tvOS, watchOS and visionOS the system may end an app that it suspends while the app holds a lock in a shared
/// container (the exception code `0xdead10cc`).
public final class FileLock: Sendable {
  /// The URL of the locked file.
  public let url: URL

  // File operations block; the threads of Swift concurrency must not.
  private let queue = BlockingQueue(label: "FileLock")
  private let clock: RequestClock

  /// Creates a lock that is not held.
  ///
  /// - Parameters:
  ///   - url: The file's URL. Locking creates its folder, for the user only.
  ///   - clock: The clock for the waits between attempts; the system's by default.
  public init(url: URL, clock: RequestClock = .system) {
    self.url = url
    self.clock = clock
  }

  /// Runs the work while it holds the lock.
  ///
  /// The method waits as long as another process has the lock, and tries again every 1 to 50 milliseconds.
  ///
  /// - Parameter work: The work to run; the lock never cancels it.
  /// - Returns: The result of the work.
  /// - Throws: `CancellationError` if the task is cancelled before it has the lock; ``NetworkError`` of code
  ///   ``NetworkError/Code-swift.struct/tokenStoreFailed`` if the file cannot be opened; any error of the work.
  public func withLock<Value>(_ work: () async throws -> Value) async throws -> Value {
    let file = try await acquire()
    defer { if let file { FileLock.release(file) } }
    return try await work()
  }

  /// Waits for the lock and returns the locked file; `nil` if locks are unsupported.
  private func acquire() async throws -> Int32? {
    guard url.isFileURL else {
      throw NetworkError.tokenStoreFailed("the lock's URL \(url) is not a file URL; make it with URL(filePath:)")
    }
    let path = url.path(percentEncoded: false)
    var pause = Duration.milliseconds(1)
    // A held lock cannot be waited for without blocking a thread, so that attempts are repeated with a growing pause.
    while true {
      try Task.checkCancellation()
      let attempt = try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Result { try FileLock.attempt(path) }) }
      }
      switch attempt {
      case .locked(let file): return file
      case .unsupported: return nil
      case .busy: break
      }
      try await clock.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  private enum Attempt {
    case locked(Int32)
    case busy
    case unsupported
  }

  /// The errors of opening that mean that no file can be created.
  private static let unsupported: Set<Int32> = [EROFS, ENOSPC, EDQUOT]

  /// Whether the error of making a folder means that nothing can be created.
  static func isUnsupported(_ error: any Error) -> Bool {
    switch ((error as? NetworkError)?.underlyingError as? CocoaError)?.code {
    case .fileWriteVolumeReadOnly, .fileWriteOutOfSpace: true
    default: false
    }
  }

  private static func attempt(_ path: String) throws -> Attempt {
    do {
      try TokenFile.makeFolder((path as NSString).deletingLastPathComponent, of: "lock file")
    } catch  where isUnsupported(error) {
      return .unsupported
    }
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      if unsupported.contains(errno) { return .unsupported }
      throw TokenFile.failure("open", path, "the lock file")
    }
    switch take(file) {
    case .taken: break
    case .busy:
      close(file)
      return .busy
    case .unsupported:
      close(file)
      return .unsupported
    }
    // The file may have been removed meanwhile; another process would then lock a new file of the same name.
    guard isStillNamed(file, path) else {
      release(file)
      return .busy
    }
    return .locked(file)
  }

  private static func isStillNamed(_ file: Int32, _ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(file, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }
}

// MARK: - Open files

extension FileLock {
  /// The result of an attempt to lock a file.
  package enum Outcome: Sendable {
    /// The file is locked until it is released, or the process ends.
    case taken
    /// Another descriptor has the lock.
    case busy
    /// The file system does not support locks, as some network file systems.
    case unsupported
  }

  /// Locks an open file unless another descriptor has it locked; does not wait.
  ///
  /// The lock is released when the process ends in any way. A second descriptor of the same process does not share it.
  ///
  /// - Parameter descriptor: The open file.
  /// - Returns: Whether the file is locked now.
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

  /// Releases the lock of an open file, and closes the file.
  ///
  /// Closing it alone is not enough: a process that is just being started has a copy of each descriptor for a moment.
  package static func release(_ descriptor: Int32) {
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
