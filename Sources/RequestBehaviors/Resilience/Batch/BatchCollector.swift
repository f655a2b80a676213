/// The batches that requests may still join.
final class BatchCollector: Sendable {
  typealias Outcome = AttemptOutcome

  /// The outcome of a request that must be sent by itself, because its batch was not sent.
  struct IsSentAlone: Error {}

  struct Key: Hashable, Sendable {
    let group: String
    let shared: SharingKey
  }

  /// Requests that are sent as one.
  final class Batch: AwaitedWork {
    typealias Member = (number: Int, request: NetworkRequest, waiter: Waiter<Outcome>)

    private struct State {
      var members: [Member] = []
      /// Those of the members that have not left.
      var callers = WaitingCallers<Outcome>()
      var task: Task<NetworkResponse, any Error>?
      var timer: Task<Void, any Error>?
      var hasGone = false
      /// Whether the batch has ended, or no caller wants its outcome.
      var isClosed = false
      var isOver = false
    }

    let key: Key
    let place: DetachedNext
    private let state = Locked(State())

    init(_ key: Key, _ place: DetachedNext) {
      self.key = key
      self.place = place
      place.call.followDeadlines { [weak self] in self?.state.withLock { $0.callers.deadline } }
    }

    var call: Call { place.call }

    /// Whether the batch has ended; false for one that was abandoned, whose callers may wait for its end.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Adds a request, and returns the number of its caller and the number of requests.
    func add(_ request: NetworkRequest, _ waiter: Waiter<Outcome>) -> (number: Int, count: Int) {
      state.withLock { state in
        let number = state.callers.add(request.call, waiter)
        state.members.append((number, request, waiter))
        return (number, state.members.count)
      }
    }

    /// Removes a caller whose task was cancelled, unless it is to wait for the end of the batch.
    ///
    /// Its request is left out if the batch has not been sent yet.
    ///
    /// The collector calls it under its own lock, so that no request joins meanwhile.
    ///
    /// - Parameter number: The number of the caller.
    /// - Returns: The waiter of a caller that leaves, and whether the work is to be cancelled.
    fileprivate func leave(_ number: Int) -> (waiter: Waiter<Outcome>?, isAbandoned: Bool) {
      state.withLock { state in
        // Nothing comes of a batch that was not sent, so even those who are late do not wait for it.
        let waiter = state.hasGone ? state.callers.leave(number) : state.callers.remove(number)
        if !state.hasGone { state.members.removeAll { $0.number == number } }
        let isAbandoned = !state.isClosed && (waiter == nil || state.callers.isEmpty)
        if isAbandoned { state.isClosed = true }
        return (waiter, isAbandoned)
      }
    }

    /// Cancels the work.
    func cancel() {
      let (task, timer) = state.withLock { ($0.task, $0.timer) }
      task?.cancel()
      timer?.cancel()
    }

    /// Marks the batch as sent.
    ///
    /// Returns false if it was sent already, or if it has no requests.
    func go() -> Bool {
      state.withLock { state in
        defer { state.hasGone = true }
        return !state.hasGone && !state.members.isEmpty
      }
    }

    func keep(timer: Task<Void, any Error>) { state.withLock { $0.timer = timer } }

    /// Ends the timer of a batch that is sent before its window is over.
    func endTimer() { state.withLock { $0.timer }?.cancel() }

    func keep(work: Task<NetworkResponse, any Error>) {
      let isAbandoned = state.withLock { state in
        state.task = work
        return state.isClosed
      }
      if isAbandoned { work.cancel() }
    }

    /// Marks the batch as ended, and returns its members.
    func end() -> [Member] {
      state.withLock { state in
        (state.isClosed, state.isOver) = (true, true)
        return state.members
      }
    }

    var members: [Member] { state.withLock { $0.members } }
  }

  let window: Duration
  private let size: Int
  private let merge: BatchBehavior.Merge
  private let split: BatchBehavior.Split
  /// The batches that accept more requests.
  private let open = Locked<[Key: Batch]>([:])

  init(
    window: Duration, size: Int, merge: @escaping BatchBehavior.Merge, split: @escaping BatchBehavior.Split
  ) {
    self.window = window
    self.size = size
    self.merge = merge
    self.split = split
  }

  /// Makes later requests begin new batches.
  func reset() { open.withLock { $0 = [:] } }

  /// Adds a request to the open batch of a key, or begins one.
  ///
  /// A full batch is sent.
  ///
  /// - Returns: The batch, the number of the caller, and its wait for the batch, to be ended by the caller.
  func add(
    _ request: NetworkRequest, _ waiter: Waiter<Outcome>, to key: Key, _ makePlace: () -> DetachedNext
  ) -> (batch: Batch, number: Int, wait: WorkWait?) {
    let (batch, number, count, wait) = open.withLock { open -> (Batch, Int, Int, WorkWait?) in
      let batch = open[key] ?? Batch(key, makePlace())
      let (number, count) = batch.add(request, waiter)
      open[key] = count < size ? batch : nil
      // Under the lock, so that the batch has its timer when another request fills it.
      if count == 1, size > 1 { batch.keep(timer: makeTimer(batch, request.call.clock)) }
      // A batch that was not sent yet waits for nothing, so this wait closes no circle.
      return (batch, number, count, WorkWait(for: batch))
    }
    if count == size, batch.go() {
      batch.endTimer()
      send(batch)
    }
    return (batch, number, wait)
  }

  /// Makes the timer that sends a batch when its window is over.
  private func makeTimer(_ batch: Batch, _ clock: RequestClock) -> Task<Void, any Error> {
    Task {
      do {
        try await clock.sleep(for: self.window)
      } catch {
        // Every request of a batch that will not be sent must get the error.
        if self.close(batch) { self.end(batch, with: .failure(error)) }
        throw error
      }
      if self.close(batch) { self.send(batch) }
    }
  }

  /// Takes a caller whose task was cancelled out of its batch, which ends with its last one.
  ///
  /// If the deadlines of all callers of a batch that was sent have passed, it is cancelled, and they wait for its end.
  func leave(_ batch: Batch, _ number: Int) {
    let (waiter, isAbandoned) = open.withLock { open in
      let (waiter, isAbandoned) = batch.leave(number)
      if isAbandoned, open[batch.key] === batch { open[batch.key] = nil }
      return (waiter, isAbandoned)
    }
    if isAbandoned { batch.cancel() }
    waiter?.settle(.failure(CancellationError()))
  }

  /// Closes a batch to further requests.
  ///
  /// Returns false if it was sent already.
  private func close(_ batch: Batch) -> Bool {
    // After a reset the batch is no longer open, or another one has its key. It is still sent.
    open.withLock { if $0[batch.key] === batch { $0[batch.key] = nil } }
    return batch.go()
  }

  private func send(_ batch: Batch) {
    let requests = batch.members.map(\.request)
    do {
      let merged = requests.count == 1 ? requests[0] : try merge(requests)
      // A merged request must not be sent with the credential of one of its callers.
      if requests.count > 1 { batch.place.requireKnownOwner() }
      WorkWait.$current.withValue(batch) {
        batch.keep(work: batch.place.start(merged) { outcome in self.end(batch, with: outcome) })
      }
    } catch {
      end(batch, with: .failure(error))
    }
  }

  /// Gives each request its part of the outcome.
  private func end(_ batch: Batch, with outcome: Outcome) {
    let members = batch.end()
    let requests = members.map(\.request)
    let outcome = batch.place.isRefused(outcome) ? refusal(of: batch, requests) : outcome
    let parts = parts(of: outcome, for: requests)
    for (member, part) in zip(members, parts) { member.waiter.settle(.success(part)) }
  }

  /// Returns the outcome of a batch that is not sent, or not again, because its owner would not be known.
  private func refusal(of batch: Batch, _ requests: [NetworkRequest]) -> Outcome {
    // What was sent before may have taken effect for each of the requests.
    guard batch.call.attemptCount > 0, !requests.allSatisfy(\.method.isSafe) else { return .failure(IsSentAlone()) }
    return .failure(
      NetworkError(
        .invalidBehavior,
        "BatchBehavior: after the requests had been sent as one, a credential without an owner was added, so they were "
          + "not sent again; give the behavior that adds it a scope"))
  }

  private func parts(of outcome: Outcome, for requests: [NetworkRequest]) -> [Outcome] {
    // Only a successful response can be split. All requests get a failure.
    guard requests.count > 1, case .success(let response) = outcome, response.isAcceptable else {
      return requests.map { _ in outcome }
    }
    do {
      let parts = try split(response, requests)
      guard parts.count == requests.count else {
        throw NetworkError(
          .invalidBehavior,
          "the split of BatchBehavior returned \(parts.count) responses for \(requests.count) requests; return one each"
        )
      }
      return parts
    } catch {
      return requests.map { _ in .failure(error) }
    }
  }
}
