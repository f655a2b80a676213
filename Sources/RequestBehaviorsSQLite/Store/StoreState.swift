import Foundation
internal import RequestBehaviors

/// The state that all connections of a store share.
final class StoreState: Sendable {
  private let closed = AtomicFlag()
  private let suspended = AtomicFlag()
  private let suspension = Locked(Suspension())
  private let identity = Locked<FileIdentity?>(nil)
  /// The path as the user gave it, for errors.
  let path: String
  /// The file's own path, for every connection and for the files beside it.
  let file: String
  let changes = ChangeHub()

  private struct Suspension {
    /// The number of times the store was suspended or resumed.
    var changes = 0
    var waiting: [Waiter<Void>] = []
  }

  init(path: String) {
    self.path = path
    file = RealPath.of(path)
  }

  var isClosed: Bool { closed.isSet }

  var isSuspended: Bool { suspended.isSet }

  /// The number of times the store was suspended or resumed.
  var suspensions: Int { suspension.withLock { $0.changes } }

  func close() {
    closed.isSet = true
    wakeThoseSuspended()
  }

  /// Records the file that the first connection has opened.
  func noteFile() {
    identity.withLock { if $0 == nil { $0 = FileIdentity(file) } }
  }

  /// Whether the file at the path is the one that the first connection opened; true for a database in memory.
  ///
  /// It is true, too, if the process has lost the right to look into the folder, as a server does that gives up its
  /// rights.
  var isFileInPlace: Bool {
    guard let opened = identity.withLock({ $0 }) else { return true }
    return switch FileIdentity.Look(at: file) {
    case .file(let found): found == opened
    case .missing: false
    case .hidden: true
    }
  }

  /// Throws if the file at the path is no longer the one that the first connection opened.
  ///
  /// A later connection would have other data than the first, and would make a new file if there was no other.
  func checkFile() throws {
    if !isFileInPlace { throw SQLiteError.movedFile(at: path) }
  }

  func setSuspended(_ value: Bool) {
    suspension.withLock { suspension in
      suspended.isSet = value
      suspension.changes += 1
    }
    if !value { wakeThoseSuspended() }
  }

  /// Returns when the store is no longer suspended, or is closed.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func waitUntilResumed() async throws {
    let waiter = suspension.withLock { suspension -> Waiter<Void>? in
      guard isSuspended, !isClosed else { return nil }
      let waiter = Waiter<Void>()
      suspension.waiting.append(waiter)
      return waiter
    }
    try await waiter?.value()
  }

  private func wakeThoseSuspended() {
    let waiting = suspension.withLock { suspension in
      defer { suspension.waiting = [] }
      return suspension.waiting
    }
    for waiter in waiting { waiter.settle(.success(())) }
  }

  /// Throws if the store is closed or suspended.
  func check() throws {
    if closed.isSet { throw SQLiteError(.misuse, "the store is closed; open another one", path: path) }
    if isSuspended { throw suspendedError }
  }

  var suspendedError: SQLiteError {
    SQLiteError(.interrupted, "the store is suspended; call resume() and try again", path: path)
  }
}

/// The stores whose closures run on the current thread.
///
/// A closure of one store may use another store.
///
/// They are kept by thread, not in a task-local value: tasks that the closure starts would inherit that value, although
/// they run elsewhere and later.
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

  /// Whether this thread runs a closure of the store.
  static func contains(_ store: ObjectIdentifier) -> Bool {
    var next = pthread_getspecific(key)
    while let frame = next?.assumingMemoryBound(to: Frame.self).pointee {
      if frame.store == store { return true }
      next = frame.outer
    }
    return false
  }

  /// Runs the work with the store in the list of this thread.
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
