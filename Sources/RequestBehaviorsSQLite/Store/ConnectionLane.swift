import RequestBehaviors

/// One connection, and the serial queue that is the only one to use it.
///
/// SQLite never runs on the cooperative pool: two bulk writes there would keep every other task waiting.
final class ConnectionLane: WorkQueue, @unchecked Sendable {
  /// Does its work on a lane's connection, and returns a closure that resumes the caller.
  typealias Job = @Sendable (ConnectionLane) -> () -> Void

  // `connection` is touched on `queue` only.
  private var connection: Connection?
  private let queue: BlockingQueue
  private let open: @Sendable () throws -> Connection
  private let state: StoreState

  init(label: String, state: StoreState, open: @escaping @Sendable () throws -> Connection) {
    self.state = state
    self.open = open
    queue = BlockingQueue(label: label)
  }

  /// Throws if this thread runs a closure of the store, because such a wait for the store would never end.
  static func checkReentrancy(of state: StoreState) throws {
    guard ActiveStores.contains(ObjectIdentifier(state)) else { return }
    throw SQLiteError(
      .misuse, "the store was used inside a read or write of its own; use the closure's Database instead",
      path: state.path)
  }

  /// Puts the job behind those that are already in the queue.
  func enqueue(_ job: @escaping Job) {
    queue.async { job(self)() }
  }

  /// Runs the work on the connection and opens it first if needed.
  ///
  /// Call it on the queue only.
  func perform<T>(_ interruption: Interruption, _ work: (Connection) throws -> T) throws -> T {
    try state.check()
    let connection = try self.connection ?? open()
    self.connection = connection
    connection.interruption = interruption
    defer {
      connection.interruption = nil
      // A connection that could not roll back is not used again.
      if connection.isBroken { self.connection = nil }
    }
    return try ActiveStores.with(ObjectIdentifier(state)) { try connection.run(work) }
  }

  /// Closes the connection after the jobs that are already in the queue; the closure gets the connection before that.
  func close(_ last: @escaping @Sendable (Connection) -> Void = { _ in }) async {
    await withCheckedContinuation { continuation in
      queue.async {
        if let connection = self.connection { last(connection) }
        self.connection = nil
        continuation.resume()
      }
    }
  }

  /// Runs the work and waits for it on this thread.
  func performSync<T>(_ work: (Connection) throws -> T) throws -> T {
    try Self.checkReentrancy(of: state)
    return try queue.sync { try perform(Interruption(), work) }
  }

  /// Runs the queued jobs on this thread, which is a simulation's.
  func runQueued() { queue.sync {} }

  /// Returns when all jobs queued before have ended.
  func drain() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}
