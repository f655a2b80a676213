/// Limits the number of requests under way at a time.
///
/// Urgent requests go first, then earlier ones.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(4)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.concurrencyLimit(limiter)])
/// ```
///
/// Behaviors, clients and per-request copies that use the same limiter share its state.
///
/// A list may have a limit over all hosts beside one for each host. Each has a name, and the one over all hosts is
/// listed last: a request that waits for its host then holds no permit of all hosts.
///
/// ```swift
/// let crawler = NetworkClient(
///   configuration: RequestConfiguration(
///     behaviors: [
///       .concurrencyLimit(4),
///       .concurrencyLimit(64, name: "all", key: LimitKey.forAllRequests),
///     ]))
/// ```
public final class ConcurrencyLimiter: Sendable {
  /// The number of requests of a key that may be under way.
  public let limit: Int
  /// The number of requests that may wait for each key; by default any number.
  public let queueLimit: Int

  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let lanes = KeyedStates<LimitKey, Lane> { Lane() }

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - limit: The number of requests of a key that may be under way; at least one.
  ///   - queueLimit: The number of requests that may wait for each key; by default any number.
  ///   - key: Returns the key of the requests that are counted together, `nil` for a request that is not limited; by
  ///     default the origin.
  public init(
    _ limit: Int, queueLimit: Int = .max,
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) {
    self.limit = max(limit, 1)
    self.queueLimit = queueLimit
    self.key = key
  }

  /// Returns the number of requests of a key that are under way.
  public func inUse(of key: LimitKey) -> Int { lanes.knownState(of: key)?.withLock { $0.permits.inUse } ?? 0 }

  /// Returns the number of requests of a key that wait.
  public func waiting(for key: LimitKey) -> Int {
    lanes.knownState(of: key)?.withLock { $0.permits.waiting.count } ?? 0
  }

  /// Resets the count of running requests, and admits waiting requests up to the limit.
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

  /// The state of a key: its permits and its waiters.
  struct Lane: Sendable {
    fileprivate var permits = PermitQueue()
    fileprivate var waiters: [UInt64: Waiter<Permit>] = [:]
    fileprivate var lastWaiter: UInt64 = 0
    /// The number of resets.
    ///
    /// A permit of an older generation gives nothing back.
    fileprivate var generation = 0
  }

  /// A permit, which is given back once.
  struct Permit: Sendable {
    fileprivate let lane: Locked<Lane>
    fileprivate let generation: Int
  }

  /// The limiter's decision about a request.
  enum Entry {
    case go(Permit)
    case wait(Turn)
    case refused
  }

  /// A place in the queue.
  struct Turn: Sendable {
    fileprivate let lane: Locked<Lane>
    fileprivate let place: WaitingPlace
    /// The waiter that gets the permit.
    let waiter: Waiter<Permit>
  }

  /// Asks for a permit.
  func enter(_ key: LimitKey, _ priority: RequestPriority) -> Entry {
    let lane = lanes.state(of: key) { $1.permits.isIdle }
    return lane.withLock { state in
      if state.permits.take(upTo: limit) { return .go(Permit(lane: lane, generation: state.generation)) }
      // Those that wait may wait for the prerequisite.
      guard state.permits.waiting.count < queueLimit || priority == .prerequisite else { return .refused }
      state.lastWaiter += 1
      let place = WaitingPlace(priority: priority, number: state.lastWaiter)
      state.permits.wait(place)
      let turn = Turn(lane: lane, place: place, waiter: Waiter())
      state.waiters[place.number] = turn.waiter
      return .wait(turn)
    }
  }

  /// Ends a wait, and gives the permit back if the waiter got one meanwhile.
  func leave(_ turn: Turn) {
    turn.lane.withLock { lane in
      lane.waiters[turn.place.number] = nil
      lane.permits.leave(turn.place)
    }
    turn.waiter.settle(.failure(CancellationError()))
    if let permit = turn.waiter.settledValue { release(permit) }
  }

  /// Gives a permit back.
  ///
  /// The most urgent waiter gets it.
  func release(_ permit: Permit) {
    var permit = permit
    // A request that was cancelled meanwhile takes no permit, so the next waiter gets it.
    while let grant = giveBack(permit), !grant.waiter.settle(.success(grant.permit)) { permit = grant.permit }
  }

  private typealias Grant = (waiter: Waiter<Permit>, permit: Permit)

  /// Gives a permit back, and takes it for the first waiter.
  private func giveBack(_ permit: Permit) -> Grant? {
    permit.lane.withLock { lane in
      guard permit.generation == lane.generation else { return nil }
      lane.permits.giveBack()
      return nextGrant(from: &lane, permit.lane)
    }
  }

  /// Takes a permit for the first waiter.
  ///
  /// Returns `nil` if there is no permit or no waiter.
  private func nextGrant(from lane: inout Lane, _ shared: Locked<Lane>) -> Grant? {
    guard let id = lane.permits.grant(upTo: limit), let waiter = lane.waiters.removeValue(forKey: id) else {
      return nil
    }
    return (waiter, Permit(lane: shared, generation: lane.generation))
  }
}

/// The permits and waiters of a key, as a pure value.
struct PermitQueue: Sendable {
  private(set) var waiting = WaitingLine<WaitingPlace>()
  var inUse = 0

  var isIdle: Bool { inUse == 0 && waiting.isEmpty }

  /// Takes a permit, unless none is left or other requests wait.
  mutating func take(upTo limit: Int) -> Bool {
    guard inUse < limit, waiting.isEmpty else { return false }
    inUse += 1
    return true
  }

  /// Adds a waiter.
  mutating func wait(_ place: WaitingPlace) { waiting.insert(place, at: index(of: place)) }

  /// Removes a waiter, if it still waits.
  mutating func leave(_ place: WaitingPlace) {
    let index = index(of: place)
    if index < waiting.count, waiting[index] == place { waiting.remove(at: index) }
  }

  private func index(of place: WaitingPlace) -> Int { waiting.place { $0 < place } }

  /// Gives a permit back.
  mutating func giveBack() { inUse = max(0, inUse - 1) }

  /// Takes a permit for the first waiter, and returns its number.
  mutating func grant(upTo limit: Int) -> UInt64? {
    guard inUse < limit, let first = waiting.first else { return nil }
    inUse += 1
    waiting.remove(at: 0)
    return first.number
  }
}
