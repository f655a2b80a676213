/// A queue that runs each job on a connection that no other job uses at the time.
protocol WorkQueue: AnyObject, Sendable {
  /// Runs the job when a connection is free.
  func enqueue(_ job: @escaping ConnectionLane.Job)
}
