#if canImport(CRequestBehaviorsCurl)
  import Dispatch
  import RequestBehaviors

  // A task that prefers the loop as its executor runs on the loop's thread: what it does between two waits is a job.

  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  extension CurlLoop: TaskExecutor {
    /// Takes a job of a task that runs on the loop.
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isTaken = shared.withLock { shared in
        guard shared.phase != .closed else { return false }
        start(&shared)
        shared.jobs.append(job)
        return true
      }
      if !isTaken { runElsewhere(job) }
    }

    /// Runs a job that comes after the loop was closed: a task must always come to its end.
    func runElsewhere(_ job: UnownedJob) {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the waiting jobs, and those that they make ready, for about as long as a turn takes.
    ///
    /// A job never enters libcurl: it only posts commands, which the next turn of the loop carries out.
    func runJobs() {
      let executor = asUnownedTaskExecutor()
      var batch: [UnownedJob] = []
      // A transfer waits for a few jobs at most, however many there are.
      var budget = CurlLoop.jobsInATurn
      while budget > 0 {
        shared.withLock { shared in
          if shared.jobs.count <= budget {
            swap(&batch, &shared.jobs)
          } else {
            batch.append(contentsOf: shared.jobs.prefix(budget))
            shared.jobs.removeFirst(budget)
          }
        }
        guard !batch.isEmpty else { return }
        budget -= batch.count
        for job in batch { watch { job.runSynchronously(on: executor) } }
        batch.removeAll(keepingCapacity: true)
      }
    }

    /// The number of jobs between two looks at the connections.
    private static let jobsInATurn = 256

    /// Runs a job, and reports one that holds the thread for too long.
    private func watch(_ job: () -> Void) {
      guard let report = blockingReport else { return job() }
      let begin = clock.now()
      job()
      let duration = clock.now() - begin
      if duration > CurlLoop.longestJob { report(duration) }
    }

    /// The time after which a job is reported: all transfers wait meanwhile.
    private static let longestJob = Duration.milliseconds(10)
  }
#endif
