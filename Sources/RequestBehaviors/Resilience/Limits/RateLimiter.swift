/// Lets requests go at a rate, in the order in which they come, the urgent ones first.
///
/// ```swift
/// let limiter = RateLimiter(rate: 10, burst: 20)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.rateLimit(limiter)])
/// ```
///
/// Its state is its own: behaviors, clients and per-request copies that are given the same limiter share it.
public final class RateLimiter: Sendable {
  /// How many requests of a key may go in a second.
  public let rate: Double
  /// How many may go at once after a pause.
  public let burst: Int
  /// How many may wait for each key; 1,000 by default.
  public let queueLimit: Int
  /// The longest pause that a server may ask for; 120 seconds by default.
  public let longestPause: Duration
  /// Which responses refuse a request; 421 and 429 by default.
  ///
  /// A refusal that says when to come back pauses all requests of its key.
  public let refusals: RefusalPolicy

  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let lanes: KeyedStates<LimitKey, Lane>

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - rate: How many requests of a key may go in a second; at least one in a day, and any number if it is infinite.
  ///   - burst: How many may go at once after a pause; at least one.
  ///   - queueLimit: How many may wait for each key.
  ///   - longestPause: The longest pause that a server may ask for.
  ///   - refusals: Which responses refuse a request; one with a delay pauses all requests of its key.
  ///   - key: Returns what requests have in common that are counted together, `nil` for one that is not limited; by
  ///     default the origin.
  public init(
    rate: Double, burst: Int, queueLimit: Int = 1_000, longestPause: Duration = .seconds(120),
    refusals: RefusalPolicy = .standard,
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) {
    self.rate = rate
    self.burst = burst
    self.queueLimit = queueLimit
    self.longestPause = longestPause
    self.refusals = refusals
    self.key = key
    lanes = KeyedStates { Lane(bucket: TokenBucket(rate: rate, burst: burst)) }
  }

  /// Forgets what was taken and asked for; those who wait look anew when their time comes.
  public func reset() {
    for (_, lane) in lanes.all { lane.withLock { $0.bucket = TokenBucket(rate: rate, burst: burst) } }
  }

  /// The requests of a key: its permits, and those who wait for them in their order.
  struct Lane: Sendable {
    fileprivate var bucket: TokenBucket
    fileprivate var queue: [(place: Place, waiter: Waiter<Void>?)] = []
    fileprivate var lastNumber: UInt64 = 0
  }

  /// A place in the queue: the urgent first, then the early.
  struct Place: Hashable, Comparable {
    let priority: RequestPriority
    let number: UInt64

    static func < (left: Place, right: Place) -> Bool {
      left.priority == right.priority ? left.number < right.number : left.priority > right.priority
    }
  }

  /// What a request that waits is told.
  enum Turn {
    /// It may go; its place in the queue is given up.
    case go
    /// It is the first of the queue, and asks again after this time.
    case sleep(Duration, Place)
    /// It asks again when it is the first, about this time from now.
    case queue(Duration, Place, Waiter<Void>)
    /// The queue is full.
    case refused(Duration)
  }

  /// Returns what the requests of a key share.
  func lane(of key: LimitKey, at now: Duration) -> Locked<Lane> {
    lanes.state(of: key) { $0.queue.isEmpty && $0.bucket.isIdle(at: now) }
  }

  /// Takes a permit if there is one and nobody waits.
  func take(from lane: Locked<Lane>, at now: Duration) -> Bool {
    lane.withLock { $0.queue.isEmpty && $0.bucket.take(at: now) }
  }

  /// Asks for a permit and, if there is none, for a place in the queue.
  ///
  /// - Parameters:
  ///   - lane: What the requests of its key share.
  ///   - priority: How urgent the request is.
  ///   - place: Its place in the queue, if it has asked before.
  ///   - now: The time.
  /// - Returns: Whether it may go, or when to ask again.
  func ask(_ lane: Locked<Lane>, _ priority: RequestPriority, _ place: Place?, at now: Duration) -> Turn {
    var next: Waiter<Void>?
    let turn = lane.withLock { lane -> Turn in
      let own = place ?? Place(priority: priority, number: lane.lastNumber + 1)
      let ahead = lane.queue.count { $0.place < own }
      let delay = lane.bucket.delay(for: ahead + 1, at: now)
      if delay == .zero, lane.bucket.take(at: now) {
        next = lane.remove(own)
        return .go
      }
      if place == nil {
        guard lane.queue.count < queueLimit else { return .refused(delay) }
        lane.lastNumber += 1
        lane.queue.insert((own, nil), at: ahead)
      }
      guard ahead > 0 else { return .sleep(max(delay, .nanoseconds(1)), own) }
      let waiter = Waiter<Void>()
      lane.queue[ahead].waiter = waiter
      return .queue(delay, own, waiter)
    }
    next?.settle(.success(()))
    return turn
  }

  /// Gives up a place in the queue.
  func leave(_ lane: Locked<Lane>, _ place: Place) { lane.withLock { $0.remove(place) }?.settle(.success(())) }

  /// Gives no permits for a while, because the server asked for it.
  func pause(_ lane: Locked<Lane>, for duration: Duration, at now: Duration) {
    guard duration > .zero else { return }
    lane.withLock { $0.bucket.pause(until: now + min(duration, longestPause), at: now) }
  }
}

extension RateLimiter.Lane {
  /// Removes a place, and returns what waits for being the first if that is another one then.
  fileprivate mutating func remove(_ place: RateLimiter.Place) -> Waiter<Void>? {
    queue.removeAll { $0.place == place }
    guard let first = queue.first else { return nil }
    queue[0].waiter = nil
    return first.waiter
  }
}
