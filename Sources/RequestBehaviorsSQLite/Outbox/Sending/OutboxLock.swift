import RequestBehaviors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The lock of the one outbox that sends, among all of a file and a name, in any process.
///
/// The system frees it when the process ends, however it ends. The file is never removed.
struct OutboxLock: Sendable {
  /// The lock while it is held; releasing it twice does nothing.
  final class Held: Sendable {
    private let release: Locked<(@Sendable () -> Void)?>

    init(_ release: @escaping @Sendable () -> Void) { self.release = Locked(release) }

    deinit { end() }

    func end() {
      let action = release.withLock { release in
        defer { release = nil }
        return release
      }
      action?()
    }
  }

  private enum Place: Hashable {
    case file(String)
    case memory(ObjectIdentifier, String)
  }

  /// The databases in memory whose lock is held.
  private static let held = Locked<Set<Place>>([])

  private let place: Place

  /// Creates the lock of an outbox.
  init(of store: SQLiteStore, name: String) {
    // A name may hold characters that a file name must not.
    let safe = name.utf8.map { byte in
      Self.isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
    }.joined()
    place =
      store.path == ":memory:"
      ? .memory(ObjectIdentifier(store.state), name) : .file("\(store.state.file)-outbox-\(safe).lock")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8.contains(byte)
  }

  /// Returns the lock; nil if another outbox holds it.
  ///
  /// - Throws: ``SQLiteError`` if the file cannot be opened or the file system has no locks.
  func take() async throws -> Held? {
    switch place {
    case .memory:
      let place = place
      guard Self.held.withLock({ $0.insert(place).inserted }) else { return nil }
      return Held { Self.held.withLock { _ = $0.remove(place) } }
    case .file(let path):
      return try await withCheckedThrowingContinuation { continuation in
        BlockingQueue.background { continuation.resume(with: Result { try Self.take(path) }) }
      }
    }
  }

  private static func take(_ path: String) throws -> Held? {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let reason = String(cString: strerror(errno))
      throw SQLiteError(.cannotOpen, "the lock of the outbox cannot be opened: \(reason)", path: path)
    }
    switch FileLock.take(file) {
    case .taken: return Held { FileLock.release(file) }
    case .busy:
      close(file)
      return nil
    case .unsupported:
      close(file)
      throw SQLiteError(
        .io, "the file system has no locks, without which two processes would send the same entry", path: path)
    }
  }
}
