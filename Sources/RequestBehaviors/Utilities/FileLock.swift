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

/// A lock between processes: a file that one of them at a time has locked (`flock(2)`).
///
/// For what several processes share, such as the place of a ``TokenStore`` of your own:
///
/// ```swift
/// private let lock = FileLock(
///   url: folder.appending(path: "token.lock"))
///
/// func withRefreshLock(
///   _ work: @Sendable () async -> Void
/// ) async throws {
///   try await lock.withLock { await work() }
/// }
/// ```
///
/// The system frees the lock when the process ends, however it ends. A process that is stopped keeps it. Two objects of
/// one file are two lockers, also in one process, and nothing may lock within its own lock. The file is empty, is
/// readable by the user only, and is never removed: lock a file of its own, never one that is replaced. Where the file
/// system knows no locks, or no file can be made because it is full or read-only, the work runs without one.
///
/// On iOS, tvOS, watchOS and visionOS the system may end a program that it suspends while it holds a lock in a shared
/// container (the exception code `0xdead10cc`).
public final class FileLock: Sendable {
  /// The file that is locked.
  public let url: URL

  // Files block; the threads of Swift concurrency must not.
  private let queue = DispatchQueue(label: "FileLock")
  private let clock: RequestClock

  /// Creates a lock; nothing is locked.
  ///
  /// - Parameters:
  ///   - url: The file's URL; its folder is made, for the user only, when it is locked.
  ///   - clock: The clock of the waits between two tries; the system's by default.
  public init(url: URL, clock: RequestClock = .system) {
    self.url = url
    self.clock = clock
  }

  /// Runs the work while nobody else has the lock.
  ///
  /// Waits as long as another process has it, and tries again each 1 to 50 milliseconds.
  ///
  /// - Parameter work: What to do; it is not cancelled for the lock's sake.
  /// - Returns: What the work returns.
  /// - Throws: `CancellationError` when the task is cancelled before it has the lock; ``NetworkError`` of code
  ///   ``NetworkError/Code-swift.struct/tokenStoreFailed`` if the file cannot be opened; what the work throws.
  public func withLock<Value>(_ work: () async throws -> Value) async throws -> Value {
    let file = try await acquire()
    // To close it frees the lock.
    defer { if let file { close(file) } }
    return try await work()
  }

  /// Returns the locked file; `nil` where there can be no lock.
  private func acquire() async throws -> Int32? {
    guard url.isFileURL else {
      throw NetworkError.tokenStoreFailed("the lock's URL \(url) is no file URL; make it with URL(filePath:)")
    }
    let path = url.path(percentEncoded: false)
    var pause = Duration.milliseconds(1)
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

  /// What opening fails with where there can be no file.
  private static let unsupported: Set<Int32> = [EROFS, ENOSPC, EDQUOT]

  private static func attempt(_ path: String) throws -> Attempt {
    try TokenFile.makeFolder((path as NSString).deletingLastPathComponent)
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
    // Somebody who removed the file would lock another one of the same name.
    guard isStillNamed(file, path) else {
      close(file)
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
  /// What became of an attempt to lock a file.
  package enum Outcome: Sendable {
    /// The file is locked until the descriptor is closed.
    case taken
    /// Another descriptor has the lock.
    case busy
    /// The file system has no locks, as some network file systems.
    case unsupported
  }

  /// Locks an open file if nothing else has it locked; does not wait.
  ///
  /// The lock is free when the descriptor is closed, so also when the process ends in any way. A second descriptor of
  /// the same process does not share it.
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
