/// Tells from the latest requests to an origin whether it is overloaded.
///
/// A hedge would make an overload worse. The type is a pure value.
///
/// A hedge helps where a few requests are slow by chance. Where many are slow, the origin is slow, and a second send
/// takes capacity from another request. Each of these is a sign, over the last 10 seconds:
///
/// - More than a tenth of the requests failed, besides one.
/// - More than a fifth of the requests had no response when their hedge was due, besides one.
/// - At least two more hedges lost than won.
package struct OverloadSigns: Sendable {
  private static let window = Duration.seconds(10)

  private var requests = SlidingCount(window: window)
  private var failures = SlidingCount(window: window)
  private var late = SlidingCount(window: window)
  private var hedges = SlidingCount(window: window)
  private var wins = SlidingCount(window: window)

  /// Creates the signs of an origin that has received no request.
  package init() {}

  /// Counts a request.
  package mutating func noteRequest(at now: Duration) { requests.add(at: now) }

  /// Counts a request that failed.
  package mutating func noteFailure(at now: Duration) { failures.add(at: now) }

  /// Counts a request that has no response when its hedge is due.
  package mutating func noteLate(at now: Duration) { late.add(at: now) }

  /// Counts a hedge.
  ///
  /// It counts as lost until it wins.
  package mutating func noteHedge(at now: Duration) { hedges.add(at: now) }

  /// Counts a hedge that won.
  package mutating func noteWin(at now: Duration) { wins.add(at: now) }

  /// Whether at least one of the signs is present.
  package mutating func arePresent(at now: Duration) -> Bool {
    let all = requests.count(at: now)
    let won = wins.count(at: now)
    return (failures.count(at: now) - 1) * 10 > all || (late.count(at: now) - 1) * 5 > all
      || hedges.count(at: now) - won >= won + 2
  }
}
