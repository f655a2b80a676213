import Foundation
public import RequestBehaviors

/// Runs clients, behaviors, servers and users on one thread, in an order, a time and a network that one seed decides.
///
/// ```swift
/// @Test(arguments: Simulation.seeds(200))
/// func `an order is made once`(seed: UInt64) async throws {
///   try await Simulation(seed: seed) { world in
///     let shop = Shop()
///     world.network.serve("shop.example") { shop.answer($0) }
///     world.network.troubles = .all
///     let client = world.client(baseURL: shopURL, behaviors: [.retry()])
///     for number in 0..<5 {
///       world.call("order \(number)", mayBeCancelled: true) {
///         let order = RequestContent.json(Order(number))
///         try await client.send(.post("orders", body: order))
///       }
///     }
///     world.check("each order is made at most once") {
///       shop.orders.values.allSatisfy { $0 <= 1 }
///     }
///   }.run()
/// }
/// ```
///
/// The code is the one that ships: tasks, task groups, actors, continuations and cancellation are the runtime's. Its
/// jobs come to the simulation, which runs one after the other. Time passes when no job is ready. As on a slow machine,
/// less than a second may pass while jobs are ready, at most once until no job is ready. A seed always gives the same
/// run; <doc:TestingEveryOrderOfEvents> tells what it cannot see.
///
/// These are checked in every world: each call and action ends; a cancelled call ends within 5 seconds; each
/// `beforeSend` is followed by exactly one of `afterSuccess` and `afterFailure`; streamed bodies are read or cancelled;
/// calls are released; no other thread resumes a task of the world.
public struct Simulation: Sendable {
  private let seed: UInt64
  private let stepLimit: Int
  private let build: @Sendable (SimulatedWorld) throws -> Void

  /// Creates a simulation.
  ///
  /// - Parameters:
  ///   - seed: Decides everything.
  ///   - stepLimit: How many jobs may run before it counts as endless; 2,000,000 by default.
  ///   - build: Builds the world; called once for each run, on the simulation's thread.
  public init(
    seed: UInt64, stepLimit: Int = 2_000_000, _ build: @escaping @Sendable (SimulatedWorld) throws -> Void
  ) {
    self.seed = seed
    self.stepLimit = stepLimit
    self.build = build
  }

  /// Whether this system's Swift runtime lets a simulation run.
  public static var isAvailable: Bool { JobHook.isInstalled }

  /// The seeds 1 to `count`, or the one of the environment variable `SIMULATION_SEED` alone.
  public static func seeds(_ count: Int) -> [UInt64] {
    if let seed = ProcessInfo.processInfo.environment["SIMULATION_SEED"].flatMap(UInt64.init) { return [seed] }
    return count > 0 ? (1...UInt64(count)).map(\.self) : []
  }

  /// Seeds that no run had before, or the one of the environment variable `SIMULATION_SEED` alone.
  public static func newSeeds(_ count: Int) -> [UInt64] {
    if ProcessInfo.processInfo.environment["SIMULATION_SEED"] != nil { return seeds(1) }
    return (0..<max(0, count)).map { _ in .random(in: 1...UInt64(UInt32.max)) }
  }

  /// The figures of a run.
  public struct Summary: Sendable, Hashable {
    /// How many jobs ran.
    public let steps: Int
    /// How much virtual time passed.
    public let time: Duration
    /// A digest of all that happened; the same for the same seed.
    public let digest: UInt64
    /// How many of the calls ended without an error.
    public let succeededCalls: Int
  }

  /// Runs the simulation on a thread of its own.
  ///
  /// The world has the task-local values of the caller. A seed that fails is made smaller: parts of the world are left
  /// out as long as the same fault shows.
  ///
  /// - Returns: What the run was like.
  /// - Throws: ``SimulationFailure``; `NetworkError` of code `simulationUnavailable` where ``isAvailable`` is false;
  ///   the error of the closure that builds the world.
  @discardableResult
  public func run() async throws -> Summary {
    guard Simulation.isAvailable else {
      throw NetworkError(
        .simulationUnavailable, "this Swift runtime has no hooks for jobs; on Linux link with -rdynamic if it is static"
      )
    }
    // Through a lock, so that the thread sanitizer sees that all that the world wrote is there for the caller.
    let result = Locked<Result<Summary, any Error>?>(nil)
    let start = SimulationScheduler()
    // Made here, so that the world has the caller's task-local values; it begins on the thread.
    start.taking {
      _ = Task {
        let ended = Result { try self.runHere() }
        result.withLock { $0 = ended }
      }
    }
    await withCheckedContinuation { continuation in
      let thread = Thread {
        start.onThisThread { start.runReadyJobs() }
        continuation.resume()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    guard let ended = result.withLock({ $0 }) else { throw CancellationError() }
    return try ended.get()
  }

  private func runHere() throws -> Summary {
    do {
      return try runOnce(excluding: [])
    } catch let failure as SimulationFailure {
      throw smaller(failure)
    }
  }

  /// Leaves out one part after the other while the same fault shows.
  private func smaller(_ failure: SimulationFailure) -> SimulationFailure {
    guard ProcessInfo.processInfo.environment["SIMULATION_WHOLE"] == nil else { return failure }
    var (smallest, excluded, runs) = (failure, Set<String>(), 0)
    for part in failure.parts where runs < 60 {
      guard smallest.parts.contains(part) else { continue }
      runs += 1
      do {
        _ = try runOnce(excluding: excluded.union([part]))
      } catch let next as SimulationFailure where next.kind == failure.kind {
        excluded.insert(part)
        smallest = next
      } catch {}
    }
    return smallest
  }

  private func runOnce(excluding excluded: Set<String>) throws -> Summary {
    let world = SimulatedWorld(seed: seed, excluding: excluded)
    return try world.scheduler.onThisThread {
      try RandomSource.with(SimulatedRandom(seed: seed, name: "library")) {
        try build(world)
        return try SimulationRun(world: world, stepLimit: stepLimit).run()
      }
    }
  }
}

extension NetworkError.Code {
  /// The Swift runtime does not allow a ``Simulation`` to order its jobs.
  public static let simulationUnavailable = Self(rawValue: "simulationUnavailable")
}
