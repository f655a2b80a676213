extension RequestClock {
  /// Waits for a task, for no longer than a time.
  ///
  /// The task goes on when the time is over, and when the task that waits is cancelled.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - limit: The time; `nil` for as long as the task takes.
  /// - Returns: The value of the task; `nil` if it has not ended.
  package func value<Value>(of task: Task<Value, Never>, within limit: Duration?) async -> Value? {
    let waiter = Waiter<Value?>()
    Task { waiter.settle(.success(await task.value)) }
    let timer = limit.map { schedule(after: $0) { waiter.settle(.success(nil)) } }
    defer { timer?.cancel() }
    return (try? await waiter.value()) ?? nil
  }
}
