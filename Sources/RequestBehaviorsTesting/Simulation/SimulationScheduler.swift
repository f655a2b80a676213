import Foundation
import RequestBehaviors

/// Runs the jobs of a simulation on one thread, in an order that its seed decides.
///
/// All members but those that say otherwise are used on the simulation's thread only.
final class SimulationScheduler: SerialExecutor, @unchecked Sendable {
  // Unchecked, because one thread uses it; what other threads reach is under `inbox`.

  /// The knowledge about a task.
  private struct TaskInfo {
    /// Decides the place of its jobs; made of the parent's and the number of its children, so that it is the same in
    /// every run of a seed, whatever other tasks there are.
    var lineage: UInt64
    var children: UInt64 = 0
    var jobs: UInt64 = 0
    /// The call or action that the task belongs to.
    var label: Int
  }

  /// A job that is ready to run.
  private struct Ready: Comparable, @unchecked Sendable {
    // Unchecked for the job, which only this thread runs.
    let job: UnownedJob
    /// The number of the job's task; 0 for the job of an actor.
    let task: UInt64
    /// The knowledge about an actor's job, which has no task of its own.
    var actor: TaskInfo?
    let isForMainActor: Bool
    let key: Int64
    /// The number of the job, which no other job of the scheduler has.
    let number: Int64

    static func < (first: Ready, second: Ready) -> Bool { (first.key, first.number) < (second.key, second.number) }
    static func == (first: Ready, second: Ready) -> Bool { first.number == second.number }
  }

  /// The jobs that other threads enqueued.
  private struct Inbox: Sendable {
    var jobs: [(job: UnownedJob, isForMainActor: Bool)] = []
  }

  /// The virtual time.
  let time: SimulatedTime
  /// The events, as a digest and the last lines.
  var log = SimulationLog()
  /// How many jobs have run.
  private(set) var steps = 0
  /// The labels of the tasks that another thread resumed.
  private(set) var strays: [String] = []

  private var ready = Heap<Ready>()
  private var tasks: [UInt64: TaskInfo] = [:]
  private var running: Ready?
  /// Whether time has passed while jobs were ready; false again when none is ready.
  private var wasSlow = false
  private var labels = ["the world"]
  private var labelJobs = [0]
  private var roots: UInt64 = 0
  private var lastNumber: Int64 = 0
  private var triggers: [Int: [(jobs: Int, action: () -> Void)]] = [:]
  private var random: SimulatedRandom
  private let order: UInt64
  private let policy: Policy
  private let inbox = Locked(Inbox())
  private let outside = DispatchSemaphore(value: 0)

  /// How the next job is chosen.
  private struct Policy {
    /// How far a job may fall behind, in jobs.
    let window: UInt64
    /// Whether the latest job goes first.
    let newestFirst: Bool
    /// The share of jobs that are held back for up to 300 others.
    let holdBack: Double
  }

  /// Creates a scheduler that runs jobs in the order in which they come, and lets no time pass by itself.
  init() {
    random = SimulatedRandom(seed: 0, name: "schedule")
    order = 0
    policy = Policy(window: 1, newestFirst: false, holdBack: 0)
    time = SimulatedTime(seed: 0)
  }

  init(seed: UInt64) {
    random = SimulatedRandom(seed: seed, name: "schedule")
    order = random.next()
    let windows: [UInt64] = [1, 4, 16, 64, 256]
    policy = Policy(
      window: windows[Int.random(in: 0..<windows.count, using: &random)], newestFirst: random.chance(0.2),
      holdBack: random.chance(0.3) ? 0.02 : 0)
    time = SimulatedTime(seed: seed)
  }

  // MARK: - Whose thread it is

  /// The scheduler whose simulation runs on this thread.
  static var current: SimulationScheduler? {
    pthread_getspecific(key).map { Unmanaged<SimulationScheduler>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private static let owners = Locked([UInt64: SimulationScheduler]())

  /// Gives a job that another thread enqueues to the scheduler that has run its task.
  ///
  /// - Returns: Whether there is one.
  static func giveFromOutside(_ job: UnownedJob, of task: UInt64, forMainActor: Bool) -> Bool {
    // Under one lock: a scheduler that ends is no longer found first, and then looks for jobs once more.
    let owner = owners.withLock { owners -> SimulationScheduler? in
      guard !owners.isEmpty, let owner = owners[task] else { return nil }
      owner.inbox.withLock { $0.jobs.append((job, forMainActor)) }
      return owner
    }
    owner?.outside.signal()
    return owner != nil
  }

  /// Whether another thread has given jobs that have not run.
  var hasJobsFromOutside: Bool { inbox.withLock { !$0.jobs.isEmpty } }

  /// Takes the jobs that a closure makes ready on this thread, before the simulation's own thread begins.
  func taking<Result>(_ work: () throws -> Result) rethrows -> Result {
    // The caller's thread may be that of another simulation.
    let previous = pthread_getspecific(SimulationScheduler.key)
    pthread_setspecific(SimulationScheduler.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(SimulationScheduler.key, previous) }
    return try work()
  }

  /// Makes this thread the simulation's while a closure runs.
  func onThisThread<Result>(_ work: () throws -> Result) rethrows -> Result {
    pthread_setspecific(SimulationScheduler.key, Unmanaged.passUnretained(self).toOpaque())
    defer {
      pthread_setspecific(SimulationScheduler.key, nil)
      SimulationScheduler.owners.withLock { owners in for id in tasks.keys { owners[id] = nil } }
    }
    return try work()
  }

  // MARK: - Jobs

  /// Takes a job that the runtime wants to run here.
  func enqueue(_ job: UnownedJob) {
    if SimulationScheduler.current === self { add(job) } else { addFromOutside(job, forMainActor: false) }
  }

  /// Adds a job that this thread enqueues.
  func add(_ job: UnownedJob, forMainActor: Bool = false) {
    let id = JobHook.taskID(of: job)
    let info = noteJob(of: id)
    lastNumber += 1
    let place = SimulatedRandom.mix(order ^ info.lineage, info.jobs)
    var key = policy.newestFirst ? -lastNumber : lastNumber
    key += Int64(place % policy.window)
    if policy.holdBack > 0, place >> 40 % 1_000 < UInt64(policy.holdBack * 1_000) { key += Int64(place % 300) }
    let actor = id == 0 ? info : nil
    ready.insert(Ready(job: job, task: id, actor: actor, isForMainActor: forMainActor, key: key, number: lastNumber))
  }

  /// Adds a job of this simulation that another thread enqueues.
  func addFromOutside(_ job: UnownedJob, forMainActor: Bool) {
    inbox.withLock { $0.jobs.append((job, forMainActor)) }
    outside.signal()
  }

  private func noteJob(of id: UInt64) -> TaskInfo {
    if var info = tasks[id] {
      info.jobs += 1
      tasks[id] = info
      return info
    }
    var info = makeChild()
    info.jobs = 1
    // The jobs of all actors of the process have the number 0, so it does not identify the actor.
    guard id != 0 else { return info }
    tasks[id] = info
    SimulationScheduler.owners.withLock { $0[id] = self }
    return info
  }

  /// Returns what is known of a new task, or of an actor's job.
  private func makeChild() -> TaskInfo {
    if let running {
      var parent = running.actor ?? tasks[running.task] ?? TaskInfo(lineage: 0, label: 0)
      parent.children += 1
      if running.actor == nil { tasks[running.task] = parent } else { self.running?.actor = parent }
      return TaskInfo(lineage: SimulatedRandom.mix(parent.lineage, parent.children), label: parent.label)
    }
    roots += 1
    return TaskInfo(lineage: SimulatedRandom.hash(labels[label]) &+ (label == 0 ? roots : 0), label: label)
  }

  /// The label of tasks that are made outside of any task.
  private var label = 0

  /// Makes a task whose jobs, and those of its children, have a name.
  ///
  /// - Returns: The number of the name, for ``after(_:jobsOf:_:)``, and what the closure returns.
  func labelled<Result>(_ name: String, _ make: () -> Result) -> (label: Int, result: Result) {
    labels.append(name)
    labelJobs.append(0)
    label = labels.count - 1
    defer { label = 0 }
    return (label, make())
  }

  /// Calls a closure when a number of jobs with a label have run.
  func after(_ jobs: Int, jobsOf label: Int, _ action: @escaping () -> Void) {
    triggers[label, default: []].append((jobs, action))
  }

  /// Lets other jobs run before the caller continues.
  ///
  /// `Task.yield` does so too, but in an actor it leaves the simulation's thread.
  func letOthersRun() async {
    // After a run that has failed, a task may go on where no others are.
    guard SimulationScheduler.current === self else { return }
    await withCheckedContinuation { paused.append($0) }
  }

  private var paused: [CheckedContinuation<Void, Never>] = []

  /// Whether a job could run now, or could after a pause that lets others run.
  var hasReadyJobs: Bool { ready.first != nil || !paused.isEmpty }

  /// Adds a line to the log, with step and time.
  func note(_ line: String) { log.add("\(steps) \(time.now): \(line)") }

  // MARK: - The loop

  /// Runs jobs, and lets time pass when none is ready, until a condition holds.
  ///
  /// A machine may be slow: now and then less than a second passes while jobs are ready. That happens at most once
  /// until no job is ready, so a world can tell a late job from a wrong one.
  ///
  /// - Parameters:
  ///   - limit: The most jobs that may run.
  ///   - afterStep: Called after each job.
  ///   - isDone: The condition.
  /// - Returns: The reason why the loop ended.
  /// - Throws: The error of `afterStep`.
  func run(limit: Int, afterStep: () throws -> Void, until isDone: () -> Bool) throws -> End {
    while !isDone() {
      takeInbox()
      resumePaused()
      if steps >= limit { return .tooManySteps }
      if let next = ready.removeFirst() {
        step(next)
        try afterStep()
        if random.chance(0.002), !wasSlow { wasSlow = time.pass(atMost: .milliseconds(999)) }
      } else {
        wasSlow = false
        if !time.passToNextSleeper() { return .nothingToDo }
      }
    }
    return .done
  }

  /// Why the loop ended.
  enum End { case done, nothingToDo, tooManySteps }

  private func step(_ next: Ready) {
    steps += 1
    running = next
    let info = next.actor ?? tasks[next.task]
    let label = info?.label ?? 0
    log.mix(info?.lineage ?? 0)
    if next.isForMainActor {
      next.job.runSynchronously(on: MainActor.sharedUnownedExecutor)
    } else {
      next.job.runSynchronously(on: asUnownedSerialExecutor())
    }
    running = nil
    labelJobs[label] += 1
    if let waiting = triggers[label], !waiting.isEmpty {
      let count = labelJobs[label]
      triggers[label] = waiting.filter { $0.jobs > count }
      for trigger in waiting where trigger.jobs <= count { trigger.action() }
    }
  }

  private func resumePaused() {
    guard !paused.isEmpty else { return }
    let continuations = paused
    paused = []
    for continuation in continuations { continuation.resume() }
  }

  private func takeInbox() {
    let jobs = inbox.withLock { inbox in
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
    for (job, isForMainActor) in jobs {
      let id = JobHook.taskID(of: job)
      strays.append(labels[tasks[id]?.label ?? 0])
      add(job, forMainActor: isForMainActor)
    }
  }

  /// Runs the jobs that are ready, and those that they make ready.
  func runReadyJobs() {
    while true {
      takeInbox()
      resumePaused()
      guard let next = ready.removeFirst() else { return }
      step(next)
    }
  }

  /// Gives other threads three seconds of real time to resume a task of this simulation.
  ///
  /// - Returns: Whether one did.
  func waitForOutside() -> Bool {
    guard inbox.withLock({ $0.jobs.isEmpty }) else { return true }
    return outside.wait(timeout: .now() + 3) == .success
  }
}
