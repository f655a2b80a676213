/// Lets a number of requests be under way at a time; the others wait, the urgent ones first.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(4)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.concurrencyLimit(limiter)])
/// ```
///
/// Its state is its own: behaviors, clients and per-request copies that are given the same limiter share it.
public final class ConcurrencyLimiter: Sendable {
  /// How many requests of a key may be under way.
  public let limit: Int
  /// How many may wait for each key; 1,000 by default.
  public let queueLimit: Int

  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let lanes = KeyedStates<LimitKey, Lane> { Lane() }

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - limit: How many requests of a key may be under way; at least one.
  ///   - queueLimit: How many may wait for each key.
  ///   - key: Returns what requests have in common that are counted together, `nil` for one that is not limited; by
  ///     default the origin.
  public init(
    _ limit: Int, queueLimit: Int = 1_000,
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) {
    self.limit = max(limit, 1)
    self.queueLimit = queueLimit
    self.key = key
  }

  /// How many requests of a key are under way.
  public func inUse(of key: LimitKey) -> Int { lanes.knownState(of: key)?.withLock { $0.permits.inUse } ?? 0 }

  /// How many requests of a key wait.
  public func waiting(for key: LimitKey) -> Int {
    lanes.knownState(of: key)?.withLock { $0.permits.waiting.count } ?? 0
  }

  /// Begins anew: what is under way counts no more, and as many of those who wait as may go do.
  public func reset() {
    for (_, lane) in lanes.all {
      lane.withLock { lane in
        lane.generation += 1
        lane.permits.inUse = 0
      }
      while let grant = lane.withLock({ nextGrant(from: &$0, lane) }) {
        if !grant.waiter.settle(.success(grant.permit)) { release(grant.permit) }
      }
    }
  }

  /// The requests of a key: its permits, and those who wait for them.
  struct Lane: Sendable {
    fileprivate var permits = PermitQueue()
    fileprivate var waiters: [UInt64: Waiter<Permit>] = [:]
    fileprivate var lastWaiter: UInt64 = 0
    /// How often it was reset: an older permit gives nothing back.
    fileprivate var generation = 0
  }

  /// A permit, which is given back once.
  struct Permit: Sendable {
    fileprivate let lane: Locked<Lane>
    fileprivate let generation: Int
  }

  /// What a request is told.
  enum Entry {
    case go(Permit)
    case wait(Turn)
    case refused
  }

  /// A place among those who wait.
  struct Turn: Sendable {
    fileprivate let lane: Locked<Lane>
    fileprivate let id: UInt64
    /// Gets the permit.
    let waiter: Waiter<Permit>
  }

  /// Asks for a permit.
  func enter(_ key: LimitKey, _ priority: RequestPriority) -> Entry {
    let lane = lanes.state(of: key) { $0.permits.isIdle }
    return lane.withLock { state in
      if state.permits.take(upTo: limit) { return .go(Permit(lane: lane, generation: state.generation)) }
      guard state.permits.waiting.count < queueLimit else { return .refused }
      state.lastWaiter += 1
      state.permits.wait(state.lastWaiter, priority)
      let turn = Turn(lane: lane, id: state.lastWaiter, waiter: Waiter())
      state.waiters[turn.id] = turn.waiter
      return .wait(turn)
    }
  }

  /// Ends a wait, and gives the permit back if one was granted meanwhile.
  func leave(_ turn: Turn) {
    turn.lane.withLock { lane in
      lane.waiters[turn.id] = nil
      lane.permits.leave(turn.id)
    }
    turn.waiter.settle(.failure(CancellationError()))
    if let permit = turn.waiter.settledValue { release(permit) }
  }

  /// Gives a permit back; the most urgent of those who wait gets it.
  func release(_ permit: Permit) {
    var permit = permit
    // A request that was cancelled meanwhile takes none.
    while let grant = giveBack(permit), !grant.waiter.settle(.success(grant.permit)) { permit = grant.permit }
  }

  private typealias Grant = (waiter: Waiter<Permit>, permit: Permit)

  /// Gives a permit back, and takes it for the first of those who wait.
  private func giveBack(_ permit: Permit) -> Grant? {
    permit.lane.withLock { lane in
      guard permit.generation == lane.generation else { return nil }
      lane.permits.giveBack()
      return nextGrant(from: &lane, permit.lane)
    }
  }

  /// Takes a permit for the first of those who wait; returns `nil` if there is none, or nobody waits.
  private func nextGrant(from lane: inout Lane, _ shared: Locked<Lane>) -> Grant? {
    guard let id = lane.permits.grant(upTo: limit), let waiter = lane.waiters.removeValue(forKey: id) else {
      return nil
    }
    return (waiter, Permit(lane: shared, generation: lane.generation))
  }
}

/// Permits and those who wait for them: values in, value out.
struct PermitQueue: Sendable {
  private(set) var waiting: [(id: UInt64, priority: RequestPriority)] = []
  var inUse = 0

  var isIdle: Bool { inUse == 0 && waiting.isEmpty }

  /// Takes a permit unless none is left or others wait.
  mutating func take(upTo limit: Int) -> Bool {
    guard inUse < limit, waiting.isEmpty else { return false }
    inUse += 1
    return true
  }

  /// Adds one who waits, behind those who are as urgent.
  mutating func wait(_ id: UInt64, _ priority: RequestPriority) {
    let index = waiting.firstIndex { $0.priority < priority } ?? waiting.endIndex
    waiting.insert((id, priority), at: index)
  }

  /// Removes one who waits.
  mutating func leave(_ id: UInt64) { waiting.removeAll { $0.id == id } }

  /// Gives a permit back.
  mutating func giveBack() { inUse = max(0, inUse - 1) }

  /// Takes a permit for the first of those who wait, and returns who that is.
  mutating func grant(upTo limit: Int) -> UInt64? {
    guard inUse < limit, !waiting.isEmpty else { return nil }
    inUse += 1
    return waiting.removeFirst().id
  }
}
