import Foundation

/// Hands the jobs that a simulation's thread enqueues to its scheduler, and leaves all other threads as they are.
///
/// The runtime asks two function pointers before it enqueues a job (`swift/Runtime/Concurrency.h`). They are symbols of
/// the runtime, not API, so they are looked up when the first simulation runs; see ``Simulation/isAvailable``.
enum JobHook {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
  private typealias TaskID = @convention(thin) (UnownedJob) -> UInt64

  /// Whether the runtime has what a simulation needs.
  ///
  /// The hooks are set by the first use, and stay set.
  static let isInstalled: Bool = {
    guard let global = pointer(to: "swift_task_enqueueGlobal_hook"),
      let main = pointer(to: "swift_task_enqueueMainExecutor_hook"), taskID != nil
    else { return false }
    global.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if !JobHook.take(job, forMainActor: false) { original(job) }
    }
    main.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if !JobHook.take(job, forMainActor: true) { original(job) }
    }
    return true
  }()

  /// The number of a job's task, which the runtime never gives twice; 0 where the runtime cannot tell.
  static func taskID(of job: UnownedJob) -> UInt64 { taskID?(job) ?? 0 }

  private static let taskID: TaskID? = pointer(to: "swift_task_getJobTaskId").map { symbol in
    unsafeBitCast(symbol, to: TaskID.self)
  }

  private static func pointer(to symbol: String) -> UnsafeMutableRawPointer? { dlsym(dlopen(nil, RTLD_NOW), symbol) }

  /// Takes a job of a simulation.
  ///
  /// A job that another thread enqueues belongs to a simulation if its task has run there before.
  private static func take(_ job: UnownedJob, forMainActor: Bool) -> Bool {
    if let scheduler = SimulationScheduler.current {
      scheduler.add(job, forMainActor: forMainActor)
      return true
    }
    return SimulationScheduler.giveFromOutside(job, of: taskID(of: job), forMainActor: forMainActor)
  }
}
