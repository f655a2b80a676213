extension SQLiteStore {
  /// Runs the closure in a write transaction and returns its result after the commit.
  ///
  /// Writes run one after the other, each in its own transaction. An error that leaves the closure rolls back and is
  /// thrown here. If the task is cancelled before the commit begins, the write rolls back and throws
  /// `CancellationError`. After that the write succeeds.
  ///
  /// - Parameters:
  ///   - durability: The failures that the commit survives; `nil` for the configuration's.
  ///   - body: Does the work on the database it is given, on the store's thread; it must not wait for other tasks.
  /// - Returns: The closure's result, after the commit.
  /// - Throws: The closure's error, ``SQLiteError``, or `CancellationError`.
  @inlinable
  @discardableResult
  public func write<T: Sendable>(
    durability: SQLiteDurability? = nil, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let returned = Returned<T>()
    try await runWrite(durability) { returned.value = try body($0) }
    return try returned.get()
  }

  /// Runs the closure on a snapshot of the file and returns its result.
  ///
  /// Reads run in parallel with each other and with a write. Cancelling the task stops a running statement, and so does
  /// ``suspend()``. The read then throws, also if the closure has caught the statement's error.
  ///
  /// - Parameter body: Reads from the database it is given, on the store's thread; a statement that writes throws.
  /// - Returns: The closure's result.
  /// - Throws: The closure's error, ``SQLiteError``, or `CancellationError`.
  @inlinable
  public func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
    let returned = Returned<T>()
    try await runRead { returned.value = try body($0) }
    return try returned.get()
  }

  /// Runs the closure in a write transaction and waits for it on this thread.
  ///
  /// It is for command-line tools, tests and code that cannot be asynchronous.
  ///
  /// - Throws: As the asynchronous form, and ``SQLiteError/Code/misuse`` inside a read or write of the same store.
  @available(*, noasync, message: "use try await store.write")
  @discardableResult
  public func writeAndWait<T>(durability: SQLiteDurability? = nil, _ body: (Database) throws -> T) throws -> T {
    try writer.performSync { try $0.write(durability: durability ?? configuration.durability, body) }
  }

  /// Runs the closure on a snapshot of the file and waits for it on this thread.
  ///
  /// - Throws: As the asynchronous form, and ``SQLiteError/Code/misuse`` inside a read or write of the same store.
  @available(*, noasync, message: "use try await store.read")
  public func readAndWait<T>(_ body: (Database) throws -> T) throws -> T {
    guard let readers else { return try writer.performSync { try $0.read(body) } }
    try ConnectionLane.checkReentrancy(of: state)
    return try readers.withLane { lane in try lane.performSync { try $0.read(body) } }
  }
}

// The generic functions above are inlined, so that they are compiled for the closure's type; these are not.
extension SQLiteStore {
  @usableFromInline
  func runWrite(_ durability: SQLiteDurability?, _ body: @escaping @Sendable (Database) throws -> Void) async throws {
    let durability = durability ?? configuration.durability
    try await perform(on: writer) { try $0.write(durability: durability, body) }
  }

  @usableFromInline
  func runRead(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
    try await perform(on: anyReader) { try $0.read(body) }
  }

  /// The queue for work that does not write.
  var anyReader: any WorkQueue { readers ?? writer }

  /// Runs work on a connection of a queue and waits for it without holding a thread.
  func perform(on queue: any WorkQueue, _ work: @escaping @Sendable (Connection) throws -> Void) async throws {
    try await wait { interruption, continuation in
      queue.enqueue { lane in
        // A caller that was cancelled while its work waited already has its error.
        guard interruption.begin() else { return {} }
        let result = Result { try lane.perform(interruption, work) }
        return { continuation.resume(with: result) }
      }
    }
  }

  /// Runs a write in one transaction with others that wait at the same time.
  ///
  /// The write may run again.
  ///
  /// The write succeeds, fails and is cancelled on its own, as by ``write(durability:_:)``. It runs again when another
  /// write, or the commit, has undone the transaction.
  ///
  /// - Parameters:
  ///   - durability: The failures that the commit survives; `nil` for the configuration's.
  ///   - isCancellable: Whether a cancellation of the task ends the write; true by default.
  ///   - check: Throws if the write must not be committed any more; called after the last write of the transaction.
  ///   - body: Does the work, as in ``write(durability:_:)``.
  /// - Returns: The closure's result, after the commit.
  /// - Throws: As ``write(durability:_:)``, and the error of the check.
  package func writeTogether<T: Sendable>(
    durability: SQLiteDurability? = nil, isCancellable: Bool = true,
    check: @escaping @Sendable () throws -> Void = {}, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let returned = Returned<T>()
    try await wait(isCancellable: isCancellable) { [groups, writer, configuration] interruption, continuation in
      let write = GroupedWrite(
        durability: durability ?? configuration.durability, interruption: interruption, continuation: continuation,
        check: check, body: { returned.value = try body($0) })
      groups.add(write, to: writer)
    }
    return try returned.get()
  }

  /// Runs a write in one transaction with others, and after the commit a read on the same connection.
  ///
  /// A read of its own would cost two more changes of the thread. It cannot be cancelled, and neither can the write.
  ///
  /// - Parameters:
  ///   - durability: The failures that the commit survives.
  ///   - body: Does the work, as in ``write(durability:_:)``.
  ///   - read: Reads, given the write's result.
  /// - Returns: The results of both.
  /// - Throws: As ``write(durability:_:)``; the read throws nothing.
  func writeTogether<T: Sendable, Value: Sendable>(
    durability: SQLiteDurability, _ body: @escaping @Sendable (Database) throws -> T,
    thenReading read: @escaping @Sendable (T, Database) throws -> Value
  ) async throws -> (T, Result<Value, any Error>) {
    let (returned, wasRead) = (Returned<T>(), Returned<Result<Value, any Error>>())
    try await wait(isCancellable: false) { [groups, writer] interruption, continuation in
      let write = GroupedWrite(
        durability: durability, interruption: interruption, continuation: continuation,
        body: { returned.value = try body($0) },
        after: { lane in
          wasRead.value = Result {
            let value = try returned.get()
            return try lane.perform(Interruption()) { try $0.read { try read(value, $0) } }
          }
        })
      groups.add(write, to: writer)
    }
    return (try returned.get(), try wasRead.get())
  }

  /// Waits for work that the closure queues.
  ///
  /// - Parameters:
  ///   - isCancellable: Whether a cancellation ends the work, and before the work begins the wait; true by default.
  ///   - enqueue: Queues the work.
  /// - Throws: The error of the work; `CancellationError`.
  private func wait(
    isCancellable: Bool = true,
    _ enqueue: @escaping @Sendable (Interruption, CheckedContinuation<Void, any Error>) -> Void
  ) async throws {
    try state.check()
    let interruption = Interruption()
    guard isCancellable else {
      return try await withCheckedThrowingContinuation { continuation in
        if interruption.wait(continuation) { enqueue(interruption, continuation) }
      }
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if interruption.wait(continuation) { enqueue(interruption, continuation) }
      }
    } onCancel: {
      interruption.cancel()
    }
  }
}

/// A box that carries a closure's result from the store's thread to the task that waits for it.
@usableFromInline
final class Returned<T: Sendable>: @unchecked Sendable {
  // Written before the task resumes, and read after.
  @usableFromInline var value: T?

  @inlinable
  init() {}

  @inlinable
  func get() throws -> T {
    guard let value else { throw SQLiteError(.misuse, "the closure was not run") }
    return value
  }
}
