public import Foundation
public import RequestBehaviors

/// The contents of a ``CacheStore`` as a value: responses by their keys, up to a number of bytes, and the latest
/// removals.
///
/// ``MemoryCacheStore`` is such a value behind a lock. Your own store can keep one, and encode it after each change, if
/// it is small enough to be written as a whole: see <doc:Caching>. At most 64 responses of one key are kept. The least
/// recently used response is removed first, both within a key and within the whole.
public struct CacheContents: Sendable {
  private struct Node: Codable {
    let key: CacheKey
    var response: StoredResponse
  }

  /// The most responses of one key.
  ///
  /// Each look-up goes through all of them, and a server may vary by a field whose value is never the same twice.
  private static let variantLimit = 64

  /// The most bytes that are kept, bodies and fields: the sum of ``StoredResponse/size``.
  public let capacity: Int

  /// Random bytes, for ``CacheStore/digestKey``.
  public let digestKey: Data

  /// How many bytes are kept.
  public private(set) var size = 0

  private var nodes = LeastRecentlyUsed<Node>()
  /// The positions of the nodes of each key, those of a URL together.
  private var positions: [String: [CacheKey: [Int]]] = [:]
  private var removals = CacheRemovals()

  /// Creates contents without responses.
  ///
  /// - Parameter capacity: The most bytes to keep.
  public init(capacity: Int) {
    self.capacity = max(0, capacity)
    var random = SystemRandomNumberGenerator()
    digestKey = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
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
    let own = positions(of: key)
    if own.count >= CacheContents.variantLimit, let oldest = nodes.leastRecentlyUsed(of: own) { remove(at: oldest) }
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

  /// Removes a response, unless it was replaced meanwhile.
  public mutating func remove(_ response: StoredResponse, for key: CacheKey) {
    remove(of: key) { $0.isSame(as: response) }
  }

  /// Removes all responses of a URL, and counts the removal.
  public mutating func removeAll(url: String) {
    removals.note(url: url)
    for position in positions[url]?.values.flatMap(\.self) ?? [] { remove(at: position) }
  }

  /// Removes all responses of an owner, and counts the removal.
  public mutating func removeAll(scope: String) {
    removals.note(scope: scope)
    for keys in positions.values {
      for (key, own) in keys where key.scopes.contains(scope) { for position in own { remove(at: position) } }
    }
  }

  /// Removes everything, and counts the removal.
  public mutating func removeAll() {
    removals.noteAll()
    (nodes, positions, size) = (LeastRecentlyUsed(), [:], 0)
  }

  private func positions(of key: CacheKey) -> [Int] { positions[key.url]?[key] ?? [] }

  private mutating func insert(_ node: Node) {
    positions[node.key.url, default: [:]][node.key, default: []].append(nodes.insert(node))
    size += node.response.size
  }

  private mutating func remove(of key: CacheKey, where condition: (StoredResponse) -> Bool) {
    for position in positions(of: key) {
      if let response = nodes[position]?.response, condition(response) { remove(at: position) }
    }
  }

  private mutating func remove(at position: Int) {
    guard let node = nodes[position] else { return }
    size -= node.response.size
    nodes.remove(position)
    positions[node.key.url]?[node.key]?.removeAll { $0 == position }
    if positions[node.key.url]?[node.key]?.isEmpty == true { positions[node.key.url]?[node.key] = nil }
    if positions[node.key.url]?.isEmpty == true { positions[node.key.url] = nil }
  }

  private mutating func evict() {
    while size > capacity, let oldest = nodes.oldest { remove(at: oldest) }
  }
}

// MARK: - The encoded form

extension CacheContents: Codable {
  private enum CodingKeys: CodingKey {
    case capacity, digestKey, removals, responses
  }

  /// Encodes everything, including the order of the last uses.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(capacity, forKey: .capacity)
    try container.encode(digestKey, forKey: .digestKey)
    try container.encode(removals, forKey: .removals)
    var responses: [Node] = []
    nodes.visit { node in
      responses.append(node)
      return true
    }
    try container.encode(responses, forKey: .responses)
  }

  /// Decodes contents; the least recently used responses beyond the capacity are left out.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    capacity = try container.decode(Int.self, forKey: .capacity)
    digestKey = try container.decode(Data.self, forKey: .digestKey)
    removals = try container.decode(CacheRemovals.self, forKey: .removals)
    for node in try container.decode([Node].self, forKey: .responses).reversed() { insert(node) }
    evict()
  }
}
