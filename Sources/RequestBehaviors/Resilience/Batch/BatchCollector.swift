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
  final class Batch: Sendable {
    private struct State {
      var members: [(request: NetworkRequest, waiter: Waiter<Outcome>)] = []
      var task: Task<NetworkResponse, any Error>?
      var timer: Task<Void, any Error>?
      var left = 0
      var hasGone = false
    }

    let key: Key
    let place: DetachedNext
    private let state = Locked(State())

    init(_ key: Key, _ place: DetachedNext) {
      self.key = key
      self.place = place
    }

    var call: Call { place.call }

    /// Adds a request, and returns the number of requests.
    func add(_ request: NetworkRequest, _ waiter: Waiter<Outcome>) -> Int {
      state.withLock { state in
        state.members.append((request, waiter))
        return state.members.count
      }
    }

    /// Records that a waiter has left.
    ///
    /// Its request is left out if the batch has not been sent yet.
    ///
    /// The collector calls it under its own lock, so that no request joins meanwhile.
    ///
    /// - Parameter waiter: The waiter that left.
    /// - Returns: Whether no waiter is left; then the work is cancelled.
    fileprivate func leave(_ waiter: Waiter<Outcome>) -> Bool {
      let (isAbandoned, task, timer) = state.withLock {
        state -> (Bool, Task<NetworkResponse, any Error>?, Task<Void, any Error>?) in
        if state.hasGone { state.left += 1 } else { state.members.removeAll { $0.waiter === waiter } }
        return (state.left == state.members.count, state.task, state.timer)
      }
      guard isAbandoned else { return false }
      task?.cancel()
      timer?.cancel()
      return true
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

    func keep(work: Task<NetworkResponse, any Error>) {
      let isAbandoned = state.withLock { state in
        state.task = work
        return state.left == state.members.count
      }
      if isAbandoned { work.cancel() }
    }

    var members: [(request: NetworkRequest, waiter: Waiter<Outcome>)] { state.withLock { $0.members } }
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
  func add(
    _ request: NetworkRequest, _ waiter: Waiter<Outcome>, to key: Key, _ makePlace: () -> DetachedNext
  ) -> Batch {
    let (batch, count) = open.withLock { open -> (Batch, Int) in
      let batch = open[key] ?? Batch(key, makePlace())
      let count = batch.add(request, waiter)
      open[key] = count < size ? batch : nil
      return (batch, count)
    }
    if count == size {
      if batch.go() { send(batch) }
    } else if count == 1 {
      let clock = request.call.clock
      batch.keep(
        timer: Task {
          do {
            try await clock.sleep(for: self.window)
          } catch {
            // Every request of a batch that will not be sent must get the error.
            if self.close(batch) { self.end(batch, with: .failure(error)) }
            throw error
          }
          if self.close(batch) { self.send(batch) }
        })
    }
    return batch
  }

  /// Records that a waiter has left its batch.
  ///
  /// A batch without waiters accepts no more requests.
  func leave(_ batch: Batch, _ waiter: Waiter<Outcome>) {
    open.withLock { if batch.leave(waiter), $0[batch.key] === batch { $0[batch.key] = nil } }
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
      batch.keep(work: batch.place.start(merged) { outcome in self.end(batch, with: outcome) })
    } catch {
      end(batch, with: .failure(error))
    }
  }

  /// Gives each request its part of the outcome.
  private func end(_ batch: Batch, with outcome: Outcome) {
    let members = batch.members
    let outcome = batch.place.isRefused(outcome) ? Outcome.failure(IsSentAlone()) : outcome
    let parts = parts(of: outcome, for: members.map(\.request))
    for (member, part) in zip(members, parts) { member.waiter.settle(.success(part)) }
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
