public import Foundation
public import RequestBehaviors

/// The contents of a ``CacheStore`` as a value: responses by their keys, up to a number of bytes, and the latest
/// removals.
///
/// ``MemoryCacheStore`` is such a value behind a lock. Your own store can keep one, and encode it after each change, if
/// it is small enough to be written as a whole: see <doc:Caching>. At most 64 responses of one key are kept. The least
/// recently used response is removed first, both within a key and within the whole.
public struct CacheContents: Sendable {
  struct Node: Codable {
    let key: CacheKey
    var response: StoredResponse
  }

  // The whole key would hash the URL again.
  /// The parts of a key by which the keys of one URL differ.
  struct KeyOfURL: Hashable {
    let scopes: [String]
    let discriminator: String

    init(_ key: CacheKey) { (scopes, discriminator) = (key.scopes, key.discriminator) }
  }

  /// The most bytes that are kept, bodies and fields: the sum of ``StoredResponse/size``.
  public let capacity: Int

  /// Random bytes, for ``CacheStore/digestKey``.
  public let digestKey: Data

  /// How many bytes are kept.
  public internal(set) var size = 0

  var nodes = LeastRecentlyUsed<Node>()
  /// The positions of the nodes of each key, those of a URL together.
  var positions: [String: [KeyOfURL: [Int]]] = [:]
  var removals = CacheRemovals()

  /// Creates contents without responses.
  ///
  /// - Parameter capacity: The most bytes to keep.
  public init(capacity: Int) {
    self.capacity = max(0, capacity)
    // If the key could be guessed, so could the credentials behind a digest.
    digestKey = RandomSource.bytes(32, isSecret: true)
  }

  /// How many responses are kept.
  public var count: Int { nodes.count }

  /// Returns the most recent response of a key that a request matches, and makes it the latest used.
  public mutating func response(for key: CacheKey, matching request: HeaderFields) -> StoredResponse? {
    var best: (position: Int, response: StoredResponse)?
    for position in positions(of: key) {
      guard let response = nodes[position]?.response, response.variant.matches(request) else { continue }
      if let best, !response.isMoreRecent(than: best.response) { continue }
      best = (position, response)
    }
    if let best { nodes.use(best.position) }
    return best?.response
  }

  /// Returns the entries without their bodies, the latest used first.
  public func entries(limit: Int) -> [CacheEntry] {
    var entries: [CacheEntry] = []
    nodes.visit { node in
      guard entries.count < limit else { return false }
      var head = node.response
      head.body = Data()
      entries.append(CacheEntry(key: node.key, response: head, bodySize: node.response.body.count))
      return true
    }
    return entries
  }
}

// MARK: - Changes

extension CacheContents {
  /// A mark of the removals so far, for ``CacheStore/mark()``.
  public var mark: CacheMark { removals.mark }

  /// Stores a response in place of those that the same request matches, as ``CacheStore/save(_:for:matching:since:)``
  /// requires.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - key: The key of its request.
  ///   - request: The header fields of its request.
  ///   - mark: The mark that was taken before the request was sent; `nil` stores the response whatever was removed
  ///     since.
  /// - Returns: Whether the response is stored, and how many others were removed.
  public mutating func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark? = nil
  ) -> CacheSaving {
    if let mark, !removals.allow(key, since: mark) { return .refused(.changedMeanwhile) }
    remove(of: key) { $0.variant.matches(request) || $0.variant == response.variant }
    guard response.size <= capacity else { return .refused(.tooLarge) }
    let before = count
    evictVariant(of: key)
    insert(Node(key: key, response: response))
    evict()
    return .stored(evicting: before + 1 - count)
  }

  /// Replaces everything but the body of a response, unless the response was replaced or removed meanwhile.
  public mutating func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) {
    for position in positions(of: key) {
      guard let current = nodes[position]?.response, current.isSame(as: old) else { continue }
      var updated = new
      updated.body = current.body
      size += updated.size - current.size
      nodes[position]?.response = updated
    }
    evict()
  }

  func positions(of key: CacheKey) -> [Int] { positions[key.url]?[KeyOfURL(key)] ?? [] }

  mutating func insert(_ node: Node) {
    positions[node.key.url, default: [:]][KeyOfURL(node.key), default: []].append(nodes.insert(node))
    size += node.response.size
  }
}
