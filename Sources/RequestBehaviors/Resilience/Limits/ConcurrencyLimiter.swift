import Foundation

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
  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var lanes: [LimitKey: PermitQueue] = [:]
  nonisolated(unsafe) private var waiters: [UInt64: Waiter<Permit>] = [:]
  // Protected by `lock` too.
  nonisolated(unsafe) private var lastWaiter: UInt64 = 0
  // Protected by `lock` too.
  nonisolated(unsafe) private var generation = 0
  // Protected by `lock` too: how many keys there may be before idle ones are forgotten.
  nonisolated(unsafe) private var pruningCount = 256

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
  public func inUse(of key: LimitKey) -> Int { lock.withLock { lanes[key]?.inUse ?? 0 } }

  /// How many requests of a key wait.
  public func waiting(for key: LimitKey) -> Int { lock.withLock { lanes[key]?.waiting.count ?? 0 } }

  /// Begins anew: what is under way counts no more, and as many of those who wait as may go do.
  public func reset() {
    let keys = lock.withLock {
      generation += 1
      for key in lanes.keys { lanes[key]?.inUse = 0 }
      return Array(lanes.keys)
    }
    for key in keys {
      while let grant = lock.withLock({ nextGrant(of: key) }) {
        if !grant.waiter.settle(.success(grant.permit)) { release(grant.permit) }
      }
    }
  }

  /// A permit, which is given back once.
  struct Permit: Sendable {
    let key: LimitKey
    let generation: Int
  }

  /// What a request is told.
  enum Entry {
    case go(Permit)
    case wait(UInt64, Waiter<Permit>)
    case refused
  }

  /// Asks for a permit.
  func enter(_ key: LimitKey, _ priority: RequestPriority) -> Entry {
    lock.withLock {
      if lanes.count > pruningCount {
        lanes = lanes.filter { !$0.value.isIdle }
        pruningCount = max(256, lanes.count * 2)
      }
      if lanes[key, default: PermitQueue()].take(upTo: limit) { return .go(Permit(key: key, generation: generation)) }
      guard lanes[key, default: PermitQueue()].waiting.count < queueLimit else { return .refused }
      lastWaiter += 1
      lanes[key, default: PermitQueue()].wait(lastWaiter, priority)
      let waiter = Waiter<Permit>()
      waiters[lastWaiter] = waiter
      return .wait(lastWaiter, waiter)
    }
  }

  /// Ends a wait, and gives the permit back if one was granted meanwhile.
  func leave(_ key: LimitKey, _ id: UInt64, _ waiter: Waiter<Permit>) {
    lock.withLock {
      waiters[id] = nil
      lanes[key]?.leave(id)
    }
    waiter.settle(.failure(CancellationError()))
    if let permit = waiter.settledValue { release(permit) }
  }

  /// Gives a permit back; the most urgent of those who wait gets it.
  func release(_ permit: Permit) {
    var freed: Permit? = permit
    while let permit = freed {
      freed = nil
      let grant = lock.withLock { () -> Grant? in
        guard permit.generation == generation else { return nil }
        lanes[permit.key]?.giveBack()
        return nextGrant(of: permit.key)
      }
      // A request that was cancelled meanwhile takes none.
      if let grant, !grant.waiter.settle(.success(grant.permit)) { freed = grant.permit }
    }
  }

  private typealias Grant = (waiter: Waiter<Permit>, permit: Permit)

  /// Takes a permit for the first of those who wait; returns `nil` if there is none, or nobody waits.
  private func nextGrant(of key: LimitKey) -> Grant? {
    guard let id = lanes[key]?.grant(upTo: limit), let waiter = waiters.removeValue(forKey: id) else { return nil }
    return (waiter, Permit(key: key, generation: generation))
  }
}

/// Permits and those who wait for them: values in, value out.
struct PermitQueue {
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
