import Foundation

/// The batches that requests may still join.
final class BatchCollector: Sendable {
  typealias Outcome = Result<NetworkResponse, any Error>

  /// What a member gets whose batch was not sent: it is to be sent by itself.
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
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var state = State()

    init(_ key: Key, _ place: DetachedNext) {
      self.key = key
      self.place = place
    }

    var call: Call { place.call }

    /// Adds a request, and returns how many there are.
    func add(_ request: NetworkRequest, _ waiter: Waiter<Outcome>) -> Int {
      lock.withLock {
        state.members.append((request, waiter))
        return state.members.count
      }
    }

    /// Notes that one does not wait any more: before the batch goes its request is left out, later it is under way.
    ///
    /// Called by the collector, so that nobody joins in between.
    ///
    /// - Parameter waiter: What it waited with.
    /// - Returns: Whether nobody waits any more; then what is under way is cancelled.
    fileprivate func leave(_ waiter: Waiter<Outcome>) -> Bool {
      let (isAbandoned, task, timer) = lock.withLock {
        () -> (Bool, Task<NetworkResponse, any Error>?, Task<Void, any Error>?) in
        if state.hasGone { state.left += 1 } else { state.members.removeAll { $0.waiter === waiter } }
        return (state.left == state.members.count, state.task, state.timer)
      }
      guard isAbandoned else { return false }
      task?.cancel()
      timer?.cancel()
      return true
    }

    /// Notes that the batch goes; false if it has gone already, or nobody waits for it.
    func go() -> Bool {
      lock.withLock {
        defer { state.hasGone = true }
        return !state.hasGone && !state.members.isEmpty
      }
    }

    func keep(timer: Task<Void, any Error>) { lock.withLock { state.timer = timer } }

    func keep(work: Task<NetworkResponse, any Error>) {
      let isAbandoned = lock.withLock {
        state.task = work
        return state.left == state.members.count
      }
      if isAbandoned { work.cancel() }
    }

    var members: [(request: NetworkRequest, waiter: Waiter<Outcome>)] { lock.withLock { state.members } }
  }

  let window: Duration
  private let size: Int
  private let merge: BatchBehavior.Merge
  private let split: BatchBehavior.Split
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var open: [Key: Batch] = [:]

  init(
    window: Duration, size: Int, merge: @escaping BatchBehavior.Merge, split: @escaping BatchBehavior.Split
  ) {
    self.window = window
    self.size = size
    self.merge = merge
    self.split = split
  }

  /// Lets later requests begin new batches.
  func reset() { lock.withLock { open = [:] } }

  /// Adds a request to the open batch of a key, or begins one; a full one goes.
  func add(
    _ request: NetworkRequest, _ waiter: Waiter<Outcome>, to key: Key, _ makePlace: () -> DetachedNext
  ) -> Batch {
    let (batch, count) = lock.withLock { () -> (Batch, Int) in
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
            // Whoever joined a batch that will not go must hear of it.
            if self.close(batch) { self.end(batch, with: .failure(error)) }
            throw error
          }
          if self.close(batch) { self.send(batch) }
        })
    }
    return batch
  }

  /// Notes that one of a batch does not wait any more; one that nobody waits for is not joined either.
  func leave(_ batch: Batch, _ waiter: Waiter<Outcome>) {
    lock.withLock { if batch.leave(waiter), open[batch.key] === batch { open[batch.key] = nil } }
  }

  /// Lets nobody join a batch any more; false if it has gone already.
  private func close(_ batch: Batch) -> Bool {
    // After a reset the batch is not among the open ones, or another of the key is; it goes all the same.
    lock.withLock { if open[batch.key] === batch { open[batch.key] = nil } }
    return batch.go()
  }

  private func send(_ batch: Batch) {
    let requests = batch.members.map(\.request)
    do {
      let merged = requests.count == 1 ? requests[0] : try merge(requests)
      // A request for several must not leave with the credential of one of them.
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
