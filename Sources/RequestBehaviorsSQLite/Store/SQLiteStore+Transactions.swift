extension SQLiteStore {
  /// Runs the closure in a write transaction and returns its result once that is committed.
  ///
  /// Writes run one after the other, each on its own. An error that leaves the closure rolls back and is thrown here. Cancelling the
  /// task before the commit has begun rolls back and throws `CancellationError`; after that the write succeeds.
  ///
  /// - Parameters:
  ///   - durability: What the commit survives; the configuration's when nil.
  ///   - body: Does the work on the database it is given, on the store's thread; it must not wait for other tasks.
  /// - Returns: What the closure returned, after the commit.
  /// - Throws: What the closure throws, ``SQLiteError``, or `CancellationError`.
  public func write<T: Sendable>(
    durability: SQLiteDurability? = nil, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let durability = durability ?? configuration.durability
    return try await perform(writer.enqueue) { try $0.write(durability: durability, body) }
  }

  /// Runs the closure on a snapshot of the file and returns its result.
  ///
  /// Reads run beside each other and beside a write. Cancelling the task stops a running statement.
  ///
  /// - Parameter body: Reads from the database it is given, on the store's thread; a statement that writes throws.
  /// - Returns: What the closure returned.
  /// - Throws: What the closure throws, ``SQLiteError``, or `CancellationError`.
  public func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
    try await perform(readers?.enqueue ?? writer.enqueue) { try $0.read(body) }
  }

  /// Runs the closure in a write transaction and waits for it on this thread.
  ///
  /// For command-line tools, tests and code that cannot be asynchronous.
  ///
  /// - Throws: As the asynchronous form, and ``SQLiteError/Code/misuse`` inside a read or write of the same store.
  @available(*, noasync, message: "use try await store.write")
  public func write<T>(durability: SQLiteDurability? = nil, _ body: (Database) throws -> T) throws -> T {
    try writer.performSync { try $0.write(durability: durability ?? configuration.durability, body) }
  }

  /// Runs the closure on a snapshot of the file and waits for it on this thread.
  ///
  /// - Throws: As the asynchronous form, and ``SQLiteError/Code/misuse`` inside a read or write of the same store.
  @available(*, noasync, message: "use try await store.read")
  public func read<T>(_ body: (Database) throws -> T) throws -> T {
    guard let readers else { return try writer.performSync { try $0.read(body) } }
    try ConnectionLane.checkReentrancy(of: state)
    return try readers.withLane { lane in try lane.performSync { try $0.read(body) } }
  }

  /// Runs work on a lane and waits for it without holding a thread.
  func perform<T: Sendable>(
    _ enqueue: (@escaping ConnectionLane.Job) -> Void,
    _ work: @escaping @Sendable (Connection) throws -> T
  ) async throws -> T {
    try state.check()
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
        interruption.wait { continuation.resume(throwing: CancellationError()) }
        enqueue { lane in
          // What was cancelled while it waited has its answer already.
          guard interruption.begin() else { return {} }
          let result = Result { try lane.perform(interruption, work) }
          return { continuation.resume(with: result) }
        }
      }
    } onCancel: {
      interruption.cancel()
    }
  }
}
