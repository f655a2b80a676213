/// Limits the rate of requests.
///
/// Urgent requests go first, then earlier ones.
///
/// ```swift
/// let limiter = RateLimiter(rate: 10, burst: 20)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.rateLimit(limiter)])
/// ```
///
/// Behaviors, clients and per-request copies that use the same limiter share its state.
public final class RateLimiter: Sendable {
  /// The number of requests of a key per second.
  public let rate: Double
  /// The number of requests that may go at once after a pause.
  public let burst: Int
  /// The number of requests that may wait for each key; by default any number.
  public let queueLimit: Int
  /// The longest pause; 120 seconds by default.
  ///
  /// A longer one that the server asks for is cut short, and requests are sent again after it.
  public let longestPause: Duration
  /// The responses that refuse a request; 421 and 429 by default.
  ///
  /// A refusal that says when to come back pauses all requests of its key.
  public let refusals: RefusalPolicy

  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let lanes: KeyedStates<LimitKey, Lane>

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - rate: The number of requests of a key per second. A rate below one per day, such as 0, counts as that, and
  ///     ``Pipeline/warnings`` names it; ``GateBehavior`` holds all requests. An infinite rate is no limit.
  ///   - burst: The number of requests that may go at once after a pause; at least one.
  ///   - queueLimit: The number of requests that may wait for each key; by default any number.
  ///   - longestPause: The longest pause. A longer one that the server asks for is cut short.
  ///   - refusals: The responses that refuse a request. A refusal with a delay pauses all requests of its key.
  ///   - key: Returns the key of the requests that are counted together, `nil` for a request that is not limited; by
  ///     default the origin.
  public init(
    rate: Double, burst: Int, queueLimit: Int = .max, longestPause: Duration = .seconds(120),
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

  /// Refills all buckets and forgets the pauses that servers asked for.
  ///
  /// Waiting requests ask again when their time comes.
  public func reset() {
    for (_, lane) in lanes.all {
      // The first in the queue still waits for a time that counts no more, and the others wait for it.
      let first = lane.withLock { lane in
        lane.bucket = TokenBucket(rate: rate, burst: burst)
        return lane.takeFirstWaiter()
      }
      first?.settle(.success(()))
    }
  }

  /// The state of a key: its permits, and the queue of its waiting requests.
  struct Lane: Sendable {
    fileprivate var bucket: TokenBucket
    fileprivate var queue = WaitingLine<(place: WaitingPlace, waiter: Waiter<Void>?)>()
    fileprivate var lastNumber: UInt64 = 0
  }

  /// The limiter's decision about a request.
  enum Turn {
    /// The request may go. It has left the queue.
    case go
    /// The request waits, and asks again when it is woken.
    case wait(Wait)
    /// The queue is full. A permit for the request would be free after this time.
    case refused(Duration)
  }

  /// A wait in the queue of a key.
  struct Wait {
    /// After about this time the request is the first in the queue and has a permit.
    let delay: Duration
    let place: WaitingPlace
    let waiter: Waiter<Void>
    /// Whether the request wakes itself after the delay, because no request ahead of it does.
    let isFirst: Bool
  }

  /// Returns the state of a key.
  func lane(of key: LimitKey, at now: Duration) -> Locked<Lane> {
    lanes.state(of: key) { $1.queue.isEmpty && $1.bucket.isIdle(at: now) }
  }

  /// Takes a permit if there is one and no request waits.
  func take(from lane: Locked<Lane>, at now: Duration) -> Bool {
    lane.withLock { $0.queue.isEmpty && $0.bucket.take(at: now) }
  }

  /// Asks for a permit and, if no permit is free, for a place in the queue.
  ///
  /// - Parameters:
  ///   - lane: The state of its key.
  ///   - priority: How urgent the request is.
  ///   - place: Its place in the queue, if it asked before.
  ///   - now: The time.
  /// - Returns: Whether the request may go, or when to ask again.
  func ask(_ lane: Locked<Lane>, _ priority: RequestPriority, _ place: WaitingPlace?, at now: Duration) -> Turn {
    var next: Waiter<Void>?
    let turn = lane.withLock { lane -> Turn in
      // Each request ahead takes a permit before this one does.
      let own = place ?? WaitingPlace(priority: priority, number: lane.lastNumber + 1)
      let ahead = lane.queue.place { $0.place < own }
      let delay = lane.bucket.delay(for: ahead + 1, at: now)
      if delay == .zero, lane.bucket.take(at: now) {
        next = lane.remove(own)
        return .go
      }
      // A request that asks for the first time joins the queue, unless it is full.
      if place == nil {
        // Those that wait may wait for the prerequisite.
        guard lane.queue.count < queueLimit || own.priority == .prerequisite else { return .refused(delay) }
        lane.lastNumber += 1
        lane.queue.insert((own, nil), at: ahead)
      }
      let waiter = Waiter<Void>()
      lane.queue[ahead].waiter = waiter
      // Only the first in the queue keeps a timer. The others are woken when they become the first.
      let isFirst = ahead == 0
      return .wait(
        Wait(delay: isFirst ? max(delay, .nanoseconds(1)) : delay, place: own, waiter: waiter, isFirst: isFirst))
    }
    next?.settle(.success(()))
    return turn
  }

  /// Gives up a place in the queue.
  func leave(_ lane: Locked<Lane>, _ place: WaitingPlace) { lane.withLock { $0.remove(place) }?.settle(.success(())) }

  /// Holds all permits for a while, because the server asked for it.
  ///
  /// - Returns: The length of the pause, which is at most the longest one.
  func pause(_ lane: Locked<Lane>, for duration: Duration, at now: Duration) -> Duration {
    let pause = min(duration, longestPause)
    lane.withLock { $0.bucket.pause(until: now + pause, at: now) }
    return pause
  }
}

extension RateLimiter.Lane {
  /// Removes a place, and returns the waiter of the request that becomes the first in the queue by that, if one does.
  fileprivate mutating func remove(_ place: WaitingPlace) -> Waiter<Void>? {
    let index = queue.place { $0.place < place }
    guard index < queue.count, queue[index].place == place else { return nil }
    queue.remove(at: index)
    return index == 0 ? takeFirstWaiter() : nil
  }

  /// Returns the waiter of the first request in the queue, which is to ask again.
  fileprivate mutating func takeFirstWaiter() -> Waiter<Void>? {
    guard let first = queue.first else { return nil }
    queue[0].waiter = nil
    return first.waiter
  }
}
