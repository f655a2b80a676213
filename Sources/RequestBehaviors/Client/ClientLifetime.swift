/// The calls under way of a client and its variants, their waits, and work that outlasts a call: all that shutting the
/// client down ends.
///
/// Only a wait has a task of its own. A call that does not wait runs in its caller's task, which the client must not
/// cancel, and needs no other.
final class ClientLifetime: Sendable {
  private struct State {
    var isShutDown = false
    /// Whether the calls under way are the last ones.
    var isClosing = false
    /// The number of calls under way.
    var callCount = 0
    /// The waiters for the end of all calls.
    var closers: [Waiter<Void>] = []
    var lastID: UInt64 = 0
    var endings: [UInt64: @Sendable () -> Void] = [:]
    var lasting: [UInt64: LastingWork.Entry] = [:]
    var finishers: [Waiter<Void>] = []
  }

  /// Tells the behaviors of the client and its variants that an owner has ended.
  let scopeEndings: ScopeEndings

  /// The lifetime of the client itself, if this one is that of its lasting work.
  private let parent: ClientLifetime?

  private let state = Locked(State())

  /// Creates the lifetime of a client.
  ///
  /// - Parameter parent: The lifetime of the client whose lasting work this one is for; `nil` for a client.
  init(lastingWorkOf parent: ClientLifetime? = nil) {
    self.parent = parent
    self.scopeEndings = parent?.scopeEndings ?? ScopeEndings()
  }

  /// The lifetime of the client that is shut down.
  var root: ClientLifetime { parent?.root ?? self }

  /// Whether the client was shut down.
  var isShutDown: Bool { state.withLock { $0.isShutDown } }

  /// Waits until the work is done, the caller's task is cancelled, or the client is shut down.
  ///
  /// - Parameter work: The work to wait for; cancelling its task ends it.
  /// - Returns: The result of the work.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, or the error of the work.
  func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let task = CancellableTask<Value>()
    guard let id = add({ task.cancel() }) else { throw NetworkError.clientShutDown() }
    // A cancellation that the caller did not ask for comes from the shutdown.
    defer { remove(id) }
    do {
      return try await task.run(work)
    } catch is CancellationError where isShutDown && !Task.isCancelled {
      throw NetworkError.clientShutDown()
    }
  }

  /// Starts work that may go on without a waiter, in a task that ends when the client is shut down.
  ///
  /// - Parameters:
  ///   - task: The task of the work; its owner can cancel it before it begins.
  ///   - isAwaited: Whether the caller waits for the work. Then the work begins at once on the caller's thread.
  ///   - completion: Gets the outcome, in the task.
  ///   - work: The work.
  /// - Returns: The task; once the client is shut down, one that fails with the code `clientShutDown`.
  func start<Value: Sendable>(
    _ task: CancellableTask<Value> = CancellableTask(), isAwaited: Bool = false,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    // The entry comes before the task begins, which removes it and may be quick.
    let id = add { task.cancel() }
    return task.begin(onThisThread: isAwaited) {
      defer { if let id { self.remove(id) } }
      let outcome = await self.outcome(of: work)
      completion(outcome)
      return try outcome.get()
    }
  }

  private func outcome<Value: Sendable>(
    of work: @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    if isShutDown { return .failure(NetworkError.clientShutDown()) }
    do {
      return .success(try await work())
    } catch {
      return .failure(error is CancellationError && isShutDown ? NetworkError.clientShutDown() : error)
    }
  }

  /// Ends the waits under way, and refuses later ones.
  func shutDown() {
    let (endings, unbegun, closers) = state.withLock { state in
      state.isShutDown = true
      // In the order in which they began.
      let unbegun = state.lasting.filter { !$0.value.hasBegun }
      defer { state.closers = [] }
      return (state.endings.sorted { $0.key < $1.key }, unbegun.sorted { $0.key < $1.key }, state.closers)
    }
    for waiter in closers { waiter.settle(.success(())) }
    for (_, end) in endings { end() }
    for (_, work) in unbegun { work.lifetime.shutDown() }
  }

  /// Adds a closure to run when the client is shut down; returns `nil` if it has been.
  func add(_ ending: @escaping @Sendable () -> Void) -> UInt64? {
    state.withLock { state in
      guard !state.isShutDown else { return nil }
      state.lastID += 1
      state.endings[state.lastID] = ending
      return state.lastID
    }
  }

  /// Removes the closure of a wait that has ended by itself.
  func remove(_ id: UInt64) { state.withLock { _ = $0.endings.removeValue(forKey: id) } }
}

// MARK: - Calls

extension ClientLifetime {
  /// Whether the client takes new calls of a user.
  var takesCalls: Bool { state.withLock { !$0.isShutDown && !$0.isClosing } }

  /// Begins a call.
  ///
  /// - Parameter isNeeded: Whether another call needs it. Such a call may begin until the client is shut down.
  /// - Returns: `false` if the client takes no more calls.
  func beginCall(isNeeded: Bool) -> Bool {
    state.withLock { state in
      if state.isShutDown || state.isClosing && !isNeeded { return false }
      state.callCount += 1
      return true
    }
  }

  /// Ends a call.
  func endCall() {
    let closers = state.withLock { state -> [Waiter<Void>] in
      state.callCount -= 1
      guard state.callCount == 0, state.isClosing else { return [] }
      defer { state.closers = [] }
      return state.closers
    }
    for waiter in closers { waiter.settle(.success(())) }
  }

  /// Refuses further calls of users, and waits until the calls under way have ended.
  ///
  /// The wait also ends when its time is over, its task is cancelled, or the client is shut down.
  ///
  /// - Parameters:
  ///   - limit: The longest wait.
  ///   - clock: The clock of the limit.
  func finishCalls(for limit: Duration, on clock: RequestClock) async {
    let waiter = Waiter<Void>()
    let isOver = state.withLock { state in
      state.isClosing = true
      if state.isShutDown || state.callCount == 0 { return true }
      state.closers.append(waiter)
      return false
    }
    if isOver { return }
    let timer = clock.schedule(after: limit) { waiter.settle(.success(())) }
    defer { timer.cancel() }
    try? await waiter.value()
  }
}

// MARK: - Lasting work

extension ClientLifetime {
  /// Adds lasting work that has not begun.
  func add(_ work: LastingWork.Entry) -> UInt64 {
    let (id, isTooLate) = state.withLock { state in
      state.lastID += 1
      state.lasting[state.lastID] = work
      return (state.lastID, state.isShutDown)
    }
    if isTooLate { work.lifetime.shutDown() }
    return id
  }

  /// Returns whether the work has begun; it cannot begin once the client is shut down.
  func beginLasting(_ id: UInt64) -> Bool {
    state.withLock { state in
      if !state.isShutDown { state.lasting[id]?.hasBegun = true }
      return state.lasting[id]?.hasBegun ?? false
    }
  }

  func endLasting(_ id: UInt64) {
    let released = state.withLock { state -> [Waiter<Void>] in
      state.lasting[id] = nil
      guard !state.lasting.values.contains(where: \.hasBegun) else { return [] }
      defer { state.finishers = [] }
      return state.finishers
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// Waits until the lasting work that has begun is done, or until its limit has passed, and then ends it.
  ///
  /// - Parameter clock: The clock of the limit.
  func finishLastingWork(on clock: RequestClock) async {
    let waiter = Waiter<Void>()
    let limit = state.withLock { state -> Duration? in
      let limit = state.lasting.values.filter(\.hasBegun).map(\.limit).max()
      if limit != nil { state.finishers.append(waiter) }
      return limit
    }
    guard let limit else { return }
    let timer = clock.schedule(after: limit) { waiter.settle(.success(())) }
    // In a task of its own: a result that is lost because the caller was cancelled is lost for other clients too.
    await Task { try? await waiter.value() }.value
    timer.cancel()
    for work in state.withLock({ Array($0.lasting.values) }) { work.lifetime.shutDown() }
  }
}

extension RequestClock {
  /// Returns the clock with sleeps that end when a client is shut down.
  func ending(with lifetime: ClientLifetime) -> RequestClock {
    sleeping { duration in try await lifetime.run { try await sleep(for: duration) } }
  }
}

extension Next {
  /// Whether the client of the call was shut down.
  public var isClientShutDown: Bool { run.chain.lifetime.root.isShutDown }
}

extension Call {
  /// Waits until the work is done, the task is cancelled, or the client is shut down.
  ///
  /// A behavior wraps its waits in this call, so that ``NetworkClient/shutdown()`` can end them. Sleeps on ``clock``
  /// and calls of ``Next`` need no wrapping.
  ///
  /// ```swift
  /// func modify(_ request: inout NetworkRequest) async throws {
  ///   try await request.call.wait { await gate.opened() }
  /// }
  /// ```
  ///
  /// - Parameter work: The work to wait for. It runs in a task of its own, which is cancelled to end it; a call of
  ///   `next` does not belong here.
  /// - Returns: The result of the work.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, `CancellationError` if the
  ///   task is cancelled, or the error of the work.
  public func wait<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let lifetime else { return try await work() }
    return try await lifetime.run(work)
  }
}
