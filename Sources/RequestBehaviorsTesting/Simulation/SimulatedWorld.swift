public import Foundation
public import RequestBehaviors

/// The parts of a simulation: a network with servers, clients, calls, actions, and checks.
///
/// The closure of ``Simulation/init(seed:stepLimit:_:)`` builds the world; it runs before any of the calls. All of
/// it runs on one thread, so servers and checks may share state without a lock.
public final class SimulatedWorld: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  /// When something happens.
  public struct Moment: Sendable {
    enum Kind: Sendable {
      case any
      case after(Duration)
    }
    let kind: Kind

    /// At any time of the world's ``SimulatedWorld/span``, or after any job of any call.
    public static let any = Moment(kind: .any)
    /// After a time.
    public static func after(_ duration: Duration) -> Moment { Moment(kind: .after(duration)) }
  }

  /// The seed.
  public let seed: UInt64
  /// The network, on which servers are added.
  public let network: SimulatedNetwork
  /// The clock that clients get; objects that take a `RequestClock` get it too.
  public let clock: RequestClock
  /// The time within which calls and actions begin; 10 seconds by default.
  public var span: Duration = .seconds(10)
  /// The calls, in the order in which they were added.
  public private(set) var calls: [Activity] = []
  /// The actions, in the order in which they were added.
  public private(set) var actions: [Activity] = []

  let scheduler: SimulationScheduler
  private let excluded: Set<String>
  private var streams: [String: SimulatedRandom] = [:]
  /// The parts that took part, in the order in which they were requested.
  private(set) var parts: [String] = []
  private(set) var checks: [(name: String, holds: () throws -> Bool)] = []
  private(set) var constantChecks: [(name: String, holds: () throws -> Bool)] = []
  private(set) var lastly: [(name: String, work: @Sendable () async throws -> Void)] = []
  private var starts: [() -> Void] = []
  private var probes: [SimulationProbe] = []

  @TaskLocal static var currentCallName: String?

  init(seed: UInt64, excluding excluded: Set<String>) {
    self.seed = seed
    self.excluded = excluded
    let scheduler = SimulationScheduler(seed: seed)
    self.scheduler = scheduler
    var random = SimulatedRandom(seed: seed, name: "clock")
    clock = scheduler.time.clock(sharingTimer: random.chance(0.5))
    let record = PartRecord(excluded)
    self.record = record
    network = SimulatedNetwork(
      seed: seed, isIncluded: { record.includes($0) },
      log: { [scheduler] line in scheduler.note(line) })
  }

  private let record: PartRecord

  /// The parts that were requested and took part.
  var includedParts: [String] { record.included }

  // MARK: - Chance

  /// Returns true with a probability, drawn from the stream of a name.
  public func chance(_ probability: Double, _ name: String) -> Bool {
    streams[name, default: SimulatedRandom(seed: seed, name: name)].chance(probability)
  }

  /// Returns a number of a range, drawn from the stream of a name.
  public func number(in range: Range<Int>, _ name: String) -> Int {
    Int.random(in: range, using: &streams[name, default: SimulatedRandom(seed: seed, name: name)])
  }

  /// Whether an optional part of the world takes part; a failing seed is made smaller by leaving parts out.
  ///
  /// ```swift
  /// if world.includes("retry") { behaviors.append(.retry()) }
  /// ```
  ///
  /// - Parameters:
  ///   - part: The name of the part.
  ///   - probability: How often it takes part; half of the time by default.
  /// - Returns: Whether it does.
  public func includes(_ part: String, chance probability: Double = 0.5) -> Bool {
    chance(probability, "part \(part)") && record.includes(part)
  }

  /// Adds a line to the log.
  public func log(_ line: String) { scheduler.note(line) }

  // MARK: - What happens

  /// Makes a client over the network of the world.
  ///
  /// Probes of the simulation are added to its behaviors: they check that hooks are balanced, that calls are released,
  /// and let other tasks run in between.
  ///
  /// - Parameters:
  ///   - baseURL: The base URL.
  ///   - behaviors: The behaviors.
  ///   - change: Changes the configuration; does nothing by default.
  /// - Returns: The client.
  public func client(
    baseURL: URL, behaviors: [any RequestBehavior] = [], _ change: (inout RequestConfiguration) -> Void = { _ in }
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    change(&configuration)
    configuration.clock = clock
    for order in [BehaviorOrder.first, .inside(.retry), .inside(.authentication), .last] {
      let probe = SimulationProbe(order, number: probes.count, seed: seed, scheduler: scheduler)
      probes.append(probe)
      configuration.behaviors.append(probe)
    }
    return NetworkClient(configuration: configuration, transport: network.makeTransport())
  }

  /// Adds a call of a user's.
  ///
  /// Whatever it throws is its result; it must end.
  ///
  /// - Parameters:
  ///   - name: Its name in the log.
  ///   - moment: When it begins; at any time by default.
  ///   - mayBeCancelled: Whether the simulation cancels it sometimes, after any of its jobs; it must then end within 5
  ///     seconds. False by default.
  ///   - work: What it does.
  /// - Returns: The call, whose result checks may ask for.
  @discardableResult
  public func call(
    _ name: String, at moment: Moment = .any, mayBeCancelled: Bool = false,
    _ work: @escaping @Sendable () async throws -> Void
  ) -> Activity {
    let activity = Activity(name)
    guard record.includes(name) else { return activity }
    calls.append(activity)
    let cancels = mayBeCancelled && chance(0.3, "\(name) is cancelled")
    let jobs = number(in: 1..<120, "\(name) is cancelled after")
    if cancels { activity.jobsBeforeCancellation = jobs }
    begin(activity, at: moment, work)
    return activity
  }

  /// Adds an action, such as a sign-out.
  ///
  /// - Parameters:
  ///   - name: Its name in the log.
  ///   - moment: When it begins; at any time by default.
  ///   - work: What it does.
  /// - Returns: The action.
  @discardableResult
  public func action(
    _ name: String, at moment: Moment = .any, _ work: @escaping @Sendable () async throws -> Void
  ) -> Activity {
    let activity = Activity(name)
    guard record.includes(name) else { return activity }
    actions.append(activity)
    begin(activity, at: moment, work)
    return activity
  }

  /// Adds a condition that must hold when everything has ended; an error that it throws tells what is wrong.
  public func check(_ name: String, _ holds: @escaping () throws -> Bool) { checks.append((name, holds)) }

  /// Adds a condition that must hold after every 64th job; an error that it throws tells what is wrong.
  public func always(_ name: String, _ holds: @escaping () throws -> Bool) { constantChecks.append((name, holds)) }

  /// Adds what must succeed when all calls and actions have ended and the network has no troubles any more.
  public func lastly(_ name: String, _ work: @escaping @Sendable () async throws -> Void) {
    lastly.append((name, work))
  }

  private func begin(
    _ activity: Activity, at moment: Moment, _ work: @escaping @Sendable () async throws -> Void
  ) {
    starts.append { [unowned self] in
      switch moment.kind {
      case .after(let delay): start(activity, after: delay, work)
      case .any where calls.isEmpty || chance(0.5, "\(activity.name) begins by the clock"):
        let parts = SimulatedNetwork.bounded(self.span).components
        let span = Int(max(1, parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000))
        start(activity, after: .milliseconds(number(in: 0..<span, "\(activity.name) begins")), work)
      case .any:
        // After some job of another call, so that it can fall between any two of them.
        let other = calls[number(in: 0..<calls.count, "\(activity.name) begins after")]
        guard other !== activity, other.label > 0 else { return start(activity, after: .zero, work) }
        let jobs = number(in: 1..<150, "\(activity.name) begins after jobs")
        let pending = Pending()
        scheduler.after(jobs, jobsOf: other.label) { [unowned self] in
          pending.run { start(activity, after: .zero, work) }
        }
        waiting.append { pending.run { [unowned self] in start(activity, after: .zero, work) } }
      }
    }
  }

  /// The activities that begin after a job of another call; begun anyway when there is nothing else to do.
  private var waiting: [() -> Void] = []

  private final class Pending {
    private var hasRun = false
    func run(_ work: () -> Void) {
      if hasRun { return }
      hasRun = true
      work()
    }
  }

  private func start(
    _ activity: Activity, after delay: Duration, _ work: @escaping @Sendable () async throws -> Void
  ) {
    let (label, task) = scheduler.labelled(activity.name) {
      SimulatedWorld.$currentCallName.withValue(activity.name) {
        // Another thread may resume it after its run has failed.
        Task { [clock, weak self] in
          do {
            try await clock.sleep(for: delay)
            self?.note("\(activity.name) begins")
            try await work()
            self?.end(activity, .success(()))
          } catch {
            self?.end(activity, .failure(error))
          }
        }
      }
    }
    activity.label = label
    activity.task = task
    if let jobs = activity.jobsBeforeCancellation {
      scheduler.after(jobs, jobsOf: label) { [unowned self] in cancel(activity) }
    }
  }

  private func end(_ activity: Activity, _ result: Result<Void, any Error>) {
    activity.result = result
    activity.endedAt = clock.now()
    switch result {
    case .success: note("\(activity.name) ends")
    case .failure(let error as NetworkError): note("\(activity.name) ends with \(error.code): \(error.message)")
    case .failure(let error): note("\(activity.name) ends with \(error)")
    }
  }

  private func cancel(_ activity: Activity) {
    guard activity.result == nil else { return }
    note("\(activity.name) is cancelled")
    activity.cancelledAt = clock.now()
    activity.task?.cancel()
  }

  private func note(_ line: String) { scheduler.note(line) }
}

// MARK: - Running

extension SimulatedWorld {
  func begin() { for start in starts { start() } }

  /// Begins what waits for a job of a call that has ended.
  ///
  /// - Returns: Whether there was anything.
  func beginWhatWaits() -> Bool {
    let due = waiting
    waiting = []
    for start in due { start() }
    return !due.isEmpty
  }

  var isOver: Bool { waiting.isEmpty && (calls + actions).allSatisfy { $0.result != nil } }

  /// The calls and actions that have not ended.
  var open: [Activity] { (calls + actions).filter { $0.result == nil } }

  /// Runs one more piece of work as an activity.
  func finally(_ name: String, _ work: @escaping @Sendable () async throws -> Void) -> Activity {
    let activity = Activity(name)
    start(activity, after: .zero, work)
    return activity
  }

  /// The first fault of calls and probes; `nil` if there is no fault.
  func problem() -> (kind: String, detail: String)? {
    for activity in calls {
      guard let cancelledAt = activity.cancelledAt, let endedAt = activity.endedAt else { continue }
      if endedAt - cancelledAt > .seconds(5) {
        return ("a cancelled call goes on", "\(activity.name) ended \(endedAt - cancelledAt) after its cancellation")
      }
    }
    for probe in probes {
      if let problem = probe.problem { return ("the hooks of a behavior are not balanced", problem) }
    }
    if let request = network.openStreams.first {
      return ("a body is left open", "the response to \(request) was neither read to its end nor cancelled")
    }
    return nil
  }

  /// Lets go of what calls threw, for an error holds its call.
  func forgetResults() { for activity in calls + actions { activity.result = nil } }

  /// The calls that something still holds.
  var heldCalls: [String] { probes.flatMap(\.heldCalls) }
}
