public import Foundation

/// A cache in memory, bounded by the number of its bytes; what was not used for the longest time goes first.
///
/// ```swift
/// let cache = MemoryCacheStore(capacity: 16 << 20)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(cache)])
/// ```
///
/// It is emptied when its process ends. Clients that share it share what is stored; responses of different users, and of
/// different credentials, are kept apart all the same.
public final class MemoryCacheStore: CacheStore {
  private struct Node {
    let key: CacheKey
    var response: StoredResponse
  }

  private struct State {
    var nodes = LeastRecentlyUsed<Node>()
    /// The positions of the nodes of each key, those of a URL together.
    var positions: [String: [CacheKey: [Int]]] = [:]
    var size = 0
    var removals = CacheRemovals()

    /// The positions of the nodes of a key.
    func positions(of key: CacheKey) -> [Int] { positions[key.url]?[key] ?? [] }

    /// Removes the responses of a key that a condition is true for.
    mutating func remove(_ key: CacheKey, where condition: (StoredResponse) -> Bool) {
      for position in positions(of: key) {
        if let response = nodes[position]?.response, condition(response) { remove(position) }
      }
    }

    /// Removes a node.
    mutating func remove(_ position: Int) {
      guard let node = nodes[position] else { return }
      size -= node.response.size
      nodes.remove(position)
      positions[node.key.url]?[node.key]?.removeAll { $0 == position }
      if positions[node.key.url]?[node.key]?.isEmpty == true { positions[node.key.url]?[node.key] = nil }
      if positions[node.key.url]?.isEmpty == true { positions[node.key.url] = nil }
    }

    /// Removes what was not used for the longest time, until no more bytes are stored than a limit.
    mutating func evict(above limit: Int) {
      while size > limit, let oldest = nodes.oldest { remove(oldest) }
    }
  }

  /// The most responses of one key: each look-up goes through them, and a server may vary by a field that is never twice
  /// the same.
  private static let variantLimit = 64

  /// The most bytes that are stored, bodies and fields.
  public let capacity: Int

  /// The most bytes of a body that is stored.
  public let maximumBodySize: Int

  /// Random bytes, made when the store is.
  public let digestKey: Data

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - capacity: The most bytes to store; 32 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default a quarter of it.
  public init(capacity: Int = 32 << 20, maximumBodySize: Int? = nil) {
    self.capacity = max(0, capacity)
    self.maximumBodySize = min(maximumBodySize ?? self.capacity / 4, self.capacity)
    var random = SystemRandomNumberGenerator()
    digestKey = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  /// How many bytes are stored.
  public var size: Int { lock.withLock { state.size } }

  /// How many responses are stored.
  public var count: Int { lock.withLock { state.nodes.count } }

  /// Returns the most recent response that a request matches, and notes its use.
  public func response(for key: CacheKey, matching request: HeaderFields) async -> StoredResponse? {
    lock.withLock {
      var best: (position: Int, response: StoredResponse)?
      for position in state.positions(of: key) {
        guard let response = state.nodes[position]?.response, response.variant.matches(request) else { continue }
        if let best, !response.isMoreRecent(than: best.response) { continue }
        best = (position, response)
      }
      if let best { state.nodes.use(best.position) }
      return best?.response
    }
  }

  /// Returns a mark of the removals so far.
  public func mark() async -> CacheMark { lock.withLock { state.removals.mark } }

  /// Stores a response in place of those that the same request matches, unless it was removed meanwhile.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async -> CacheSaving {
    lock.withLock {
      guard state.removals.allow(key, since: mark) else { return .refused(.changedMeanwhile) }
      return insert(response, for: key, matching: request)
    }
  }

  /// Stores a response in place of those that the same request matches, unless it is larger than the whole store.
  ///
  /// - Returns: How many others went to make room.
  public func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async -> Int {
    lock.withLock { insert(response, for: key, matching: request).evicted }
  }

  /// Stores a response; the lock is held.
  private func insert(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields
  ) -> CacheSaving {
    state.remove(key) { $0.variant.matches(request) || $0.variant == response.variant }
    guard response.size <= capacity else { return .refused(.tooLarge) }
    let before = state.nodes.count
    let own = state.positions(of: key)
    if own.count >= MemoryCacheStore.variantLimit, let oldest = state.nodes.leastRecentlyUsed(of: own) {
      state.remove(oldest)
    }
    let position = state.nodes.insert(Node(key: key, response: response))
    state.positions[key.url, default: [:]][key, default: []].append(position)
    state.size += response.size
    state.evict(above: capacity)
    return .stored(evicting: before + 1 - state.nodes.count)
  }

  /// Replaces everything but the body of a response.
  public func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async {
    lock.withLock {
      for position in state.positions(of: key) {
        guard let current = state.nodes[position]?.response, current.isSame(as: old) else { continue }
        var updated = new
        updated.body = current.body
        state.size += updated.size - current.size
        state.nodes[position]?.response = updated
      }
      state.evict(above: capacity)
    }
  }

  /// Removes a response.
  public func remove(_ response: StoredResponse, for key: CacheKey) async {
    lock.withLock { state.remove(key) { $0.isSame(as: response) } }
  }

  /// Removes all responses of a URL, and counts the removal.
  public func removeAll(url: String) async {
    lock.withLock {
      state.removals.note(url: url)
      for position in state.positions[url]?.values.flatMap(\.self) ?? [] { state.remove(position) }
    }
  }

  /// Removes all responses of a scope, and counts the removal.
  public func removeAll(scope: String) async {
    lock.withLock {
      state.removals.note(scope: scope)
      for keys in state.positions.values {
        for (key, positions) in keys where key.scopes.contains(scope) { positions.forEach { state.remove($0) } }
      }
    }
  }

  /// Removes everything, and counts the removal.
  public func removeAll() async {
    lock.withLock {
      var removals = state.removals
      removals.noteAll()
      state = State(removals: removals)
    }
  }

  /// Returns what is stored, the latest used first.
  public func entries(limit: Int) async -> [CacheEntry] {
    lock.withLock {
      var entries: [CacheEntry] = []
      state.nodes.visit { node in
        guard entries.count < limit else { return false }
        var head = node.response
        head.body = Data()
        entries.append(CacheEntry(key: node.key, response: head, bodySize: node.response.body.count))
        return true
      }
      return entries
    }
  }
}
