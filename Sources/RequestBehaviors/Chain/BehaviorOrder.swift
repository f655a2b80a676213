/// The place of a behavior in the list: the smaller, the further out.
///
/// The members are in the standard order, outermost first. A behavior further out sees a request earlier and its
/// outcome later. It runs once, while one further in may run several times.
///
/// ```swift
/// // Once for every hop, where it would be once for all of them.
/// let audit = AuditBehavior().ordered(.inside(.redirects))
/// ```
public struct BehaviorOrder: Hashable, Comparable, Sendable {
  private let rank: Int
  private let name: String

  private init(_ rank: Int, _ name: String) {
    self.rank = rank * 1_000
    self.name = name
  }

  private init(exactRank: Int, name: String) {
    self.rank = exactRank
    self.name = name
  }

  /// A user's outermost behavior.
  public static let first = BehaviorOrder(0, "first")
  /// Logging, timing, indicators: once per call, with the final outcome.
  public static let observation = BehaviorOrder(1, "observation")
  /// A deadline of the whole call, including waits, repeats and saves.
  public static let deadline = BehaviorOrder(2, "deadline")
  /// Required headers and keys: once per call.
  public static let request = BehaviorOrder(3, "request")
  /// Joining identical requests in flight; everything further in runs once.
  public static let coalescing = BehaviorOrder(4, "coalescing")
  /// Saving a response that passed every check further in, before the caller gets it.
  public static let persistence = BehaviorOrder(5, "persistence")
  /// A cache; a hit runs nothing further in.
  public static let caching = BehaviorOrder(6, "caching")
  /// Holding or refusing a request before the first attempt.
  public static let gate = BehaviorOrder(7, "gate")
  /// Retries; each attempt runs everything further in again.
  public static let retry = BehaviorOrder(8, "retry")
  /// A second attempt in parallel; each attempt runs everything further in again.
  public static let hedging = BehaviorOrder(9, "hedging")
  /// A user's behavior, by default: once per attempt, after redirects and token replay have settled the outcome.
  public static let middle = BehaviorOrder(10, "middle")
  /// Following redirects; each hop runs everything further in again.
  public static let redirects = BehaviorOrder(11, "redirects")
  /// Tokens and passwords: a request that waits for a token holds no permit.
  public static let authentication = BehaviorOrder(12, "authentication")
  /// Rate and concurrency limits, per send and origin.
  public static let rateLimit = BehaviorOrder(13, "rateLimit")
  /// Circuit breakers, per send and origin: further in, no request waits while it holds a probe.
  public static let circuitBreaker = BehaviorOrder(14, "circuitBreaker")
  /// Signatures, after all changes of URL, method or body.
  public static let signing = BehaviorOrder(15, "signing")
  /// Checking that the response came from the server; a forged one reaches no behavior further out.
  public static let verification = BehaviorOrder(16, "verification")
  /// A user's innermost behavior: sees the request as the transport gets it, without the credentials of other origins.
  ///
  /// No behavior sees what the transport adds, such as the `User-Agent` of URLSession.
  public static let last = BehaviorOrder(17, "last")

  /// Returns the place just outside of another: before it on the way out, after it on the way back.
  public static func outside(_ other: BehaviorOrder) -> BehaviorOrder {
    BehaviorOrder(exactRank: other.rank - 1, name: "outside \(other.name)")
  }

  /// Returns the place just inside of another: after it on the way out, before it on the way back.
  public static func inside(_ other: BehaviorOrder) -> BehaviorOrder {
    BehaviorOrder(exactRank: other.rank + 1, name: "inside \(other.name)")
  }

  /// The member of the standard order at or next to this place.
  var standard: BehaviorOrder { BehaviorOrder((rank + 500) / 1_000, name) }

  /// Whether the left place is further out than the right one.
  public static func < (left: BehaviorOrder, right: BehaviorOrder) -> Bool { left.rank < right.rank }

  /// Whether two orders are the same place.
  public static func == (left: BehaviorOrder, right: BehaviorOrder) -> Bool { left.rank == right.rank }

  /// Feeds the place into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(rank) }
}

extension BehaviorOrder: CustomStringConvertible {
  /// The name of the place.
  public var description: String { name }
}

extension RequestBehavior {
  /// The middle, by default.
  public var order: BehaviorOrder { .middle }
}
