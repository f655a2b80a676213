#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// The thread on which libcurl runs all transfers of a transport.
  ///
  /// The first transfer starts the thread. The thread keeps the loop alive until the loop is closed.
  final class CurlLoop: @unchecked Sendable {
    // Unchecked because all but `shared` and the constants is used on the loop's thread only.

    enum Command {
      case start(CurlTransfer)
      /// Ends a transfer whose outcome is settled.
      case cancel(CurlTransfer)
      /// Resumes a transfer that waits for its reader or for the stream of its body.
      case resume(CurlTransfer)
      /// Ends the transfers that have taken too long.
      case expire
      case close(@Sendable () -> Void)
    }

    enum Phase { case unstarted, running, closed }

    struct Shared {
      var phase = Phase.unstarted
      var commands: [Command] = []
      /// The jobs of the tasks that run on the loop.
      var jobs: [UnownedJob] = []
      var isAsleep = false
      var thread: ObjectIdentifier?
    }

    /// Whether the caller runs on the loop's thread.
    var isOnThread: Bool { shared.withLock { $0.thread } == ObjectIdentifier(Thread.current) }

    /// The unused handles.
    let handles: CurlHandlePool
    let multi: UnsafeMutableRawPointer
    let clock: RequestClock
    /// Called with the time that a job held the thread, if that was too long; `nil` if no job is watched.
    let blockingReport: (@Sendable (Duration) -> Void)?
    /// The state that other threads use.
    let shared = Locked(Shared())

    // Used on the thread only.
    var transfers: [CurlTransfer] = []
    var ended: [CurlTransfer] = []
    var queue: CurlQueue<CurlTransfer>
    private var timer: DeadlineTimer
    /// Whether a transfer within libcurl may be waiting for a connection.
    var mayHaveWaiting = false
    /// Whether a transfer within libcurl may have ended without libcurl's notice.
    var mayHaveMissedEnds = false
    var isClosing = false
    /// Whether the system can wait for microseconds.
    private var mayPause = false
    private var lastRestart = ContinuousClock.now
    private var lastLook: ContinuousClock.Instant?
    /// When this turn of the loop began.
    private(set) var now: Duration

    /// Creates a loop; `nil` if libcurl cannot be initialized.
    init?(_ configuration: CurlTransport.Configuration, clock: RequestClock) {
      guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
      self.multi = multi
      self.clock = clock
      blockingReport = configuration.blockingReport
      handles = CurlHandlePool(configuration, CurlShare())
      timer = DeadlineTimer(clock: clock)
      now = clock.now()
      let perHost = max(configuration.maximumConnectionsPerHost, 1)
      let total = configuration.maximumConnections.map { max($0, 1) } ?? 0
      // libcurl sends at most 100 requests at a time over an HTTP/2 connection.
      let streams = configuration.httpVersion.multiplexes ? 100 : 1
      if streams == 1 { _ = rb_curl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING)) }
      queue = CurlQueue(
        limit: perHost.multipliedSafely(by: streams), total: total > 0 ? total.multipliedSafely(by: streams) : nil)
      _ = rb_curl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
      _ = rb_curl_multi_set_number(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total)
      // By default the size of libcurl's cache follows the number of transfers, so the connections of a burst would be
      // closed after it.
      _ = rb_curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, total > 0 ? total : max(perHost, 128))
    }

    /// Hands a command to the thread.
    func post(_ command: Command) {
      let isTaken = shared.withLock { shared in
        guard shared.phase != .closed else { return false }
        if shared.phase == .unstarted, case .close = command {
          // Without a transfer no thread is needed.
          shared.phase = .closed
          curl_multi_cleanup(multi)
          return false
        }
        start(&shared)
        shared.commands.append(command)
        return true
      }
      if !isTaken { refuse(command) }
    }

    /// Starts the thread, or wakes it.
    ///
    /// It is called under the lock, so that the handle still exists.
    func start(_ shared: inout Shared) {
      if shared.phase == .unstarted {
        shared.phase = .running
        let thread = Thread { self.run() }
        thread.name = "RequestBehaviorsCurl"
        shared.thread = ObjectIdentifier(thread)
        thread.start()
      } else if shared.isAsleep {
        shared.isAsleep = false
        curl_multi_wakeup(multi)
      }
    }

    /// Handles a command that comes after the loop was closed.
    private func refuse(_ command: Command) {
      switch command {
      case .start(let transfer):
        transfer.fail(NetworkError.clientShutDown())
        transfer.upload?.cancel()
      case .close(let completion): completion()
      case .cancel, .resume, .expire: break
      }
    }
  }

  // MARK: - The thread

  extension CurlLoop {
    private func run() {
      _ = rb_curl_block_broken_pipe()
      mayPause = rb_curl_make_pauses_exact() == 0
      var batch: [Command] = []
      var completions: [@Sendable () -> Void] = []
      while completions.isEmpty {
        shared.withLock { shared in
          shared.isAsleep = false
          swap(&batch, &shared.commands)
        }
        now = clock.now()
        for command in batch {
          switch command {
          case .start(let transfer): begin(transfer)
          case .cancel(let transfer): end(transfer)
          case .resume(let transfer): resume(transfer)
          case .expire: expire()
          case .close(let completion): completions.append(completion)
          }
        }
        batch.removeAll(keepingCapacity: true)
        guard completions.isEmpty else { break }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        collect()
        // The handles are renewed on this thread, because it allocated their memory. If another thread freed the
        // memory, the allocator's locks would contend.
        handles.renew()
        runJobsIfAny()
        pause()
        // Jobs and other transfers may keep the loop from ever being idle.
        if mayHaveWaiting { restartWaiting(every: CurlLoop.busyRestartInterval) }
        if mayHaveMissedEnds { lookForMissedEnds() }
        sleep()
      }
      close()
      for completion in completions { completion() }
    }

    private func runJobsIfAny() {
      if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) { runJobs() }
    }

    /// Waits for at most 20 microseconds when many transfers are under way, so that the next turn has more to do.
    ///
    /// libcurl looks at every transfer in each turn, with a system call for most of them. Without a pause a turn may
    /// handle a single response: with 64 transfers whose callers do some work, the looks took a tenth of all processor
    /// time. With more than 128 transfers there is enough to do in each turn without a pause.
    private func pause() {
      guard mayPause, 9...128 ~= queue.count else { return }
      // The pause is 300 nanoseconds for each transfer, which is less than a look at it takes.
      rb_curl_pause(min(queue.count * 300, 20_000))
    }

    /// Waits until a connection, one of libcurl's timers or a command has something to do.
    private func sleep() {
      let isIdle = shared.withLock { shared in
        shared.isAsleep = shared.commands.isEmpty && shared.jobs.isEmpty
        return shared.isAsleep
      }
      guard isIdle else { return }
      var activity: Int32 = 0
      let hasToLook = mayHaveWaiting || mayHaveMissedEnds
      curl_multi_poll(multi, nil, 0, hasToLook ? CurlLoop.restartInterval : 600_000, &activity)
      if activity == 0, mayHaveWaiting { restartWaiting(every: .milliseconds(Int(CurlLoop.restartInterval))) }
    }

    /// The interval between restarts, and between looks for missed ends, in milliseconds.
    private static let restartInterval: Int32 = 50

    /// The least interval between restarts while the loop has other work, which a restart of many transfers delays.
    private static let busyRestartInterval = Duration.milliseconds(500)

    /// Restarts the transfers that wait for a connection, so that they look for one again.
    ///
    /// libcurl 7.88 sometimes leaves some of them waiting although connections are free again: one time in a hundred
    /// for 20 transfers over two connections.
    private func restartWaiting(every interval: Duration) {
      let now = ContinuousClock.now
      guard now - lastRestart >= interval else { return }
      lastRestart = now
      let waiting = transfers.filter { $0.isWithLibrary && !$0.hasBegun }
      mayHaveWaiting = !waiting.isEmpty
      for transfer in waiting { restart(transfer) }
    }

    /// Makes libcurl look at the transfers whose end it may have missed; see ``CurlTransfer/mayEndUnnoticed``.
    private func lookForMissedEnds() {
      let now = ContinuousClock.now
      if let lastLook, now - lastLook < .milliseconds(Int(CurlLoop.restartInterval)) { return }
      lastLook = now
      let suspects = transfers.filter { $0.isWithLibrary && $0.mayEndUnnoticed }
      mayHaveMissedEnds = !suspects.isEmpty
      for transfer in suspects { lookAgain(at: transfer) }
    }

    private func close() {
      endAll()
      timer.stop()
      let (refused, jobs) = shared.withLock { shared in
        shared.phase = .closed
        curl_multi_cleanup(multi)
        defer { (shared.commands, shared.jobs) = ([], []) }
        return (shared.commands, shared.jobs)
      }
      for command in refused { refuse(command) }
      if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        for job in jobs { runElsewhere(job) }
      }
      handles.close()
    }
  }

  // MARK: - Deadlines, on the thread

  extension CurlLoop {
    func arm(_ deadline: Duration) {
      timer.arm(deadline, fire: { [weak self] in self?.post(.expire) })
    }

    private func expire() {
      timer.stop()
      // The end of one can end others that wait, whose handles may have another transfer by then.
      for transfer in transfers where transfer.index != nil && !transfer.isAbandoned {
        guard let expiry = transfer.currentDeadline.expiry(at: now) else { continue }
        transfer.fail(NetworkError(.timedOut, expiry.message))
        // Here too the connection may be dead, however short the time was.
        transfer.handle.leaveConnection()
        end(transfer)
      }
      let next = transfers.lazy.filter { !$0.isAbandoned }.compactMap(\.currentDeadline.deadline).min()
      if let next { arm(next) }
    }
  }

  extension Int {
    fileprivate func multipliedSafely(by factor: Int) -> Int {
      let (product, overflows) = multipliedReportingOverflow(by: factor)
      return overflows ? .max : product
    }
  }
#endif
