import RequestBehaviors

/// The fetches of a URL that are under way, and what happened to the URL since the first of them began.
///
/// It ends with the last of them.
struct OverlappingFetches: Sendable {
  /// A response that is being stored or is stored, with the moment at which its request was sent.
  private struct Saving {
    let key: CacheKey
    let variant: CacheVariant
    var moment: Moment
  }

  /// The moment at which a request was sent; of two at the same time the one whose fetch began later is the later one.
  private struct Moment: Comparable {
    let time: Duration
    let number: Int

    init(_ fetch: CacheActivity.Fetch) { (time, number) = (fetch.sentAt, fetch.number) }

    static func < (one: Moment, other: Moment) -> Bool {
      (one.time, one.number) < (other.time, other.number)
    }
  }

  /// How many fetches are under way.
  var count = 0
  /// How often the URL became invalid while one of them was under way.
  var invalidations = 0
  /// The oldest mark of the store that one of them has.
  private(set) var mark: CacheMark?
  /// The number of owners that had signed out when the first of them began.
  let scopeEndings: UInt64
  private var savings: [Saving] = []
  /// The latest moment of those that are not in ``savings`` any more.
  private var lastForgotten: Moment?

  /// The most responses that are remembered: a server may vary by a field whose value is never the same twice.
  private static let limit = 64

  init(scopeEndings: UInt64) { self.scopeEndings = scopeEndings }

  /// Records the mark of one of them.
  mutating func note(_ new: CacheMark) { mark = [mark, new].compactMap(\.self).min { $0.number < $1.number } }

  /// Records that the response of a fetch is being stored, unless no other fetch could be outdated by it.
  mutating func noteSaving(_ variant: CacheVariant, of fetch: CacheActivity.Fetch) {
    guard count > 1 else { return }
    let moment = Moment(fetch)
    if let index = savings.firstIndex(where: { $0.key == fetch.key && $0.variant == variant }) {
      savings[index].moment = max(savings[index].moment, moment)
      return
    }
    if savings.count == OverlappingFetches.limit {
      lastForgotten = (savings.map(\.moment) + [lastForgotten].compactMap(\.self)).max()
      savings = []
    }
    savings.append(Saving(key: fetch.key, variant: variant, moment: moment))
  }

  /// Whether a response that the response of a fetch would replace is one to a request that was sent later.
  ///
  /// RFC 9111 §4: of several responses the most recent one is used. A `Date` tells only the second, and may be missing.
  func hasLater(than fetch: CacheActivity.Fetch, _ variant: CacheVariant) -> Bool {
    if savings.isEmpty, lastForgotten == nil { return false }
    let moment = Moment(fetch)
    if let lastForgotten, moment < lastForgotten { return true }
    return savings.contains { saving in
      saving.key == fetch.key && moment < saving.moment
        && (saving.variant == variant || saving.variant.matches(fetch.fields))
    }
  }
}
