/// A moment in the life of a ``CacheStore``: how many removals it had counted.
///
/// The cache takes a mark before it sends a request, and saves the response only if nothing was removed since that the
/// response belongs to; see ``CacheStore/mark()``.
public struct CacheMark: Sendable, Hashable, Codable {
  /// The number of the latest removal.
  public let number: Int

  /// Creates a mark; a store does so from its count.
  public init(_ number: Int) { self.number = number }
}

/// What a ``CacheStore`` made of a response that it was given.
public struct CacheSaving: Sendable, Hashable {
  /// Why the response is not stored; `nil` if it is.
  public let refusal: CacheRefusal?
  /// How many other responses went to make room.
  public let evicted: Int

  /// The response is stored.
  ///
  /// - Parameter evicted: How many other responses went to make room; none by default.
  public static func stored(evicting evicted: Int = 0) -> CacheSaving {
    CacheSaving(refusal: nil, evicted: evicted)
  }

  /// The response is not stored.
  ///
  /// - Parameter refusal: The reason: ``CacheRefusal/changedMeanwhile``, ``CacheRefusal/tooLarge`` or one of the store's.
  public static func refused(_ refusal: CacheRefusal) -> CacheSaving { CacheSaving(refusal: refusal, evicted: 0) }
}

/// The latest removals of a store, for ``CacheStore/mark()``: a response that was requested before one of them must not
/// be stored after it.
///
/// A store keeps the value with its responses and changes both together: under one lock, in one transaction. It is
/// `Codable`, for stores that are shared or outlive the process. It remembers at least 1,000 removals; a response that was
/// requested before the oldest of them is not stored.
///
/// ```swift
/// func removeAll(scope: String) {
///   removals.note(scope: scope)
///   entries.removeAll { $0.key.scopes.contains(scope) }
/// }
/// ```
public struct CacheRemovals: Sendable, Codable {
  private enum Removed: Sendable, Hashable, Codable {
    case everything
    case url(String)
    case scope(String)
  }

  /// How many removals are remembered at least.
  private static let limit = 1_000

  /// The number of the removal before the first that is remembered.
  private var start: Int
  private var removed: [Removed] = []

  /// Creates a list without removals, for a store that is new.
  ///
  /// It begins at a random number: a mark of another store, or of one that was replaced, counts as too old.
  public init() { start = Int.random(in: 0..<1 << 40) }

  /// A mark of the removals so far.
  public var mark: CacheMark { CacheMark(start + removed.count) }

  /// Notes that the responses of a URL are removed.
  public mutating func note(url: String) { note(.url(url)) }

  /// Notes that the responses of a scope are removed.
  public mutating func note(scope: String) { note(.scope(scope)) }

  /// Notes that everything is removed.
  public mutating func noteAll() { note(.everything) }

  private mutating func note(_ removal: Removed) {
    removed.append(removal)
    guard removed.count == 2 * CacheRemovals.limit else { return }
    start += CacheRemovals.limit
    removed.removeFirst(CacheRemovals.limit)
  }

  /// Whether a response may be stored.
  ///
  /// - Parameters:
  ///   - key: The key of the response.
  ///   - mark: The mark that was taken before its request was sent.
  /// - Returns: `false` if its URL, one of its scopes or everything was removed since, and where that is not known any
  ///   more.
  public func allow(_ key: CacheKey, since mark: CacheMark) -> Bool {
    guard (start...start + removed.count).contains(mark.number) else { return false }
    return removed[(mark.number - start)...].allSatisfy { removal in
      switch removal {
      case .everything: false
      case .url(let url): url != key.url
      case .scope(let scope): !key.scopes.contains(scope)
      }
    }
  }
}
