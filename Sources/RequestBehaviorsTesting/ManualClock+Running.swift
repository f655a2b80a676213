import Foundation
import RequestBehaviors

extension ManualClock {
  /// Moves the clock to the moment at which the next sleeper is due, and wakes it.
  ///
  /// - Returns: Whether there was a sleeper.
  @discardableResult
  public func advanceToNextWait() -> Bool {
    guard let next = nextDeadline else { return false }
    move(by: max(.zero, next - now))
    return true
  }

  /// Lets a time pass, one wait after the other, so that each sleeper wakes at its own moment.
  ///
  /// ```swift
  /// async let prices = client.prices()
  /// await clock.run(for: .seconds(90))
  /// ```
  ///
  /// The clock knows who waits, and not who still computes: a task that is ready to run looks like none at all. So
  /// between two moments it lets other tasks run until nothing more begins to wait for a while, up to a tenth of a
  /// second of real time. On a busy machine a task may miss its moment. ``run(_:)`` moves the clock exactly, because it
  /// runs the work itself; this method is for work that is under way already.
  ///
  /// - Parameter duration: The time.
  public func run(for duration: Duration) async {
    // A longer time than the clock has left would be more than a duration can hold.
    let end = now + min(duration, .seconds(Int64.max))
    await settle(after: sleeperCount == 0 ? beginCount : 0)
    while !Task.isCancelled, let next = nextDeadline, next <= end {
      let begun = beginCount
      move(by: max(.zero, next - now))
      await settle(after: begun)
    }
    guard now < end else { return }
    advance(by: end - now)
    await settle(after: 0)
  }

  /// Gives way to other tasks until no sleeper has come or gone for a while.
  ///
  /// - Parameter begun: The number of sleeps after which another one is likely to begin, for which it waits up to a
  ///   tenth of a second of real time.
  private func settle(after begun: UInt64) async {
    let limit = ContinuousClock.now + .milliseconds(100)
    while beginCount == begun, ContinuousClock.now < limit, !Task.isCancelled { await Task.yield() }
    var seen = changeCount
    var quiet = 0
    while quiet < 300, !Task.isCancelled {
      await Task.yield()
      let count = changeCount
      quiet = count == seen ? quiet + 1 : 0
      seen = count
    }
  }
}

extension ManualClock {
  /// Does some work, and lets time pass whenever all of it waits for this clock.
  ///
  /// ```swift
  /// let prices = try await clock.run { try await client.prices() }
  /// ```
  ///
  /// No real time passes, and a busy machine does not matter: the tasks of the work run on one thread, in the order in
  /// which they are ready, and the clock moves to the next wait only when none of them is. So every wait ends at its
  /// own moment. Time passes too while the work waits for something else than the clock, such as a file or a socket.
  ///
  /// Where the runtime has no hooks for jobs (see ``Simulation/isAvailable``), the clock moves as in ``run(for:)``.
  ///
  /// - Parameter work: The work, with the tasks that it makes. It must not use the main actor.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard Simulation.isAvailable else { return try await runOnPool(work) }
    let job = ClockedWork(clock: self, work)
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in job.start(continuation) }
      guard let result = job.result else { throw CancellationError() }
      return try result.get()
    } onCancel: {
      job.cancel()
    }
  }

  private func runOnPool<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let hasEnded = Locked(false)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        defer { hasEnded.withLock { $0 = true } }
        return try await work()
      }
      group.addTask {
        while !hasEnded.withLock({ $0 }), !Task.isCancelled {
          await self.settle(after: self.beginCount)
          if !hasEnded.withLock({ $0 }) { self.advanceToNextWait() }
        }
        return nil
      }
      defer { group.cancelAll() }
      while let next = try await group.next() { if let value = next { return value } }
      throw CancellationError()
    }
  }
}

/// Work whose tasks run on a thread of their own, which knows whether one of them is ready.
private final class ClockedWork<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    var isCancelled = false
    var result: Result<Value, any Error>?
  }

  private let clock: ManualClock
  private let work: @Sendable () async throws -> Value
  private let state = Locked(State())

  init(clock: ManualClock, _ work: @escaping @Sendable () async throws -> Value) {
    (self.clock, self.work) = (clock, work)
  }

  var result: Result<Value, any Error>? { state.withLock { $0.result } }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  func start(_ continuation: CheckedContinuation<Void, Never>) {
    let scheduler = SimulationScheduler()
    // Made here, so that it has the caller's task-local values; it begins on the thread.
    let task = scheduler.taking {
      Task {
        do {
          let value = try await work()
          state.withLock { $0.result = .success(value) }
        } catch {
          state.withLock { $0.result = .failure(error) }
        }
      }
    }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    let thread = Thread {
      self.run(scheduler)
      continuation.resume()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }

  private func run(_ scheduler: SimulationScheduler) {
    scheduler.onThisThread {
      while true {
        scheduler.runReadyJobs()
        if result != nil { return }
        if !clock.advanceToNextWait() { _ = scheduler.waitForOutside() }
      }
    }
    // Another thread may have resumed a task of the work between the last look and here. Only after the end of
    // `onThisThread` no thread gives a job any more.
    repeat { scheduler.onThisThread { scheduler.runReadyJobs() } } while scheduler.hasJobsFromOutside
  }
}
