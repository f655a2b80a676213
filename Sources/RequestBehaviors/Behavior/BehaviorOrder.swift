/// Where a behavior stands in the list: the smaller, the further out.
///
/// The members stand in the standard order, outermost first. A behavior further out sees a request earlier, sees its
/// outcome later, and runs once where one further in may run several times.
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

  /// The user's own outermost.
  public static let first = BehaviorOrder(0, "first")
  /// Logging, timing, indicators: once per call, with the final outcome.
  public static let observation = BehaviorOrder(1, "observation")
  /// A deadline of the whole call: covers waits, repeats and saves.
  public static let deadline = BehaviorOrder(2, "deadline")
  /// Required headers, keys: once per call.
  public static let request = BehaviorOrder(3, "request")
  /// What joins identical requests in flight; everything further in runs once.
  public static let coalescing = BehaviorOrder(4, "coalescing")
  /// Saves what passed every check further in, before the caller gets it.
  public static let persistence = BehaviorOrder(5, "persistence")
  /// A cache; a hit touches nothing further in.
  public static let caching = BehaviorOrder(6, "caching")
  /// What holds or refuses a request before anything is tried.
  public static let gate = BehaviorOrder(7, "gate")
  /// What tries again; each attempt runs what follows again.
  public static let retry = BehaviorOrder(8, "retry")
  /// What tries twice at once; each attempt runs what follows again.
  public static let hedging = BehaviorOrder(9, "hedging")
  /// The user's own, by default: once per attempt, when redirects and token replay have settled the outcome.
  public static let middle = BehaviorOrder(10, "middle")
  /// Follows redirects; each hop runs what follows again.
  public static let redirects = BehaviorOrder(11, "redirects")
  /// Tokens and passwords: waiting for a token holds no permit.
  public static let authentication = BehaviorOrder(12, "authentication")
  /// Rate and concurrency limits, per send and origin.
  public static let rateLimit = BehaviorOrder(13, "rateLimit")
  /// Circuit breakers, per send and origin: nobody waits further in while holding a probe.
  public static let circuitBreaker = BehaviorOrder(14, "circuitBreaker")
  /// Signatures: after all that changes URL, method or body.
  public static let signing = BehaviorOrder(15, "signing")
  /// Checks that the response came from the server; a forged one reaches nothing further out.
  public static let verification = BehaviorOrder(16, "verification")
  /// The user's own innermost: sees exactly what is sent and received, without the credentials of other origins.
  public static let last = BehaviorOrder(17, "last")

  /// The place just outside of another: before it on the way out, after it on the way back.
  public static func outside(_ other: BehaviorOrder) -> BehaviorOrder {
    BehaviorOrder(exactRank: other.rank - 1, name: "outside \(other.name)")
  }

  /// The place just inside of another: after it on the way out, before it on the way back.
  public static func inside(_ other: BehaviorOrder) -> BehaviorOrder {
    BehaviorOrder(exactRank: other.rank + 1, name: "inside \(other.name)")
  }

  /// The member of the standard order that this place is or is next to.
  var standard: BehaviorOrder { BehaviorOrder((rank + 500) / 1_000, name) }

  /// Whether a behavior of the left order stands further out than one of the right.
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
