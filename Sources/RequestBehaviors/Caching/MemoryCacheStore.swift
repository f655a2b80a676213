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
    /// The positions of the nodes of a URL.
    var positions: [String: [Int]] = [:]
    var size = 0
  }

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
  ///   - maximumBodySize: The most bytes of a body; by default a quarter of the capacity.
  public init(capacity: Int = 32 << 20, maximumBodySize: Int? = nil) {
    self.capacity = max(0, capacity)
    self.maximumBodySize = maximumBodySize ?? self.capacity / 4
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
      for position in state.positions[key.url] ?? [] {
        guard let node = state.nodes[position], node.key == key, node.response.variant.matches(request) else {
          continue
        }
        if let best, !node.response.isMoreRecent(than: best.response) { continue }
        best = (position, node.response)
      }
      if let best { state.nodes.use(best.position) }
      return best?.response
    }
  }

  /// Stores a response in place of those that the same request matches.
  ///
  /// - Returns: How many others went to make room.
  public func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async -> Int {
    lock.withLock {
      for position in state.positions[key.url] ?? [] {
        guard let node = state.nodes[position], node.key == key, node.response.variant.matches(request) else {
          continue
        }
        remove(position)
      }
      let before = state.nodes.count
      // A Vary with a value for every request would else make each look through all of them.
      if let own = state.positions[key.url], own.count >= 64 { remove(own[0]) }
      state.positions[key.url, default: []].append(state.nodes.insert(Node(key: key, response: response)))
      state.size += response.size
      while state.size > capacity, let oldest = state.nodes.oldest { remove(oldest) }
      return before + 1 - state.nodes.count
    }
  }

  /// Replaces everything but the body of a response.
  public func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async {
    lock.withLock {
      for position in state.positions[key.url] ?? [] {
        guard let node = state.nodes[position], node.key == key, node.response.isSame(as: old) else { continue }
        var updated = new
        updated.body = node.response.body
        state.size += updated.size - node.response.size
        state.nodes[position]?.response = updated
      }
    }
  }

  /// Removes a response.
  public func remove(_ response: StoredResponse, for key: CacheKey) async {
    lock.withLock {
      for position in state.positions[key.url] ?? [] {
        if let node = state.nodes[position], node.key == key, node.response.isSame(as: response) { remove(position) }
      }
    }
  }

  /// Removes all responses of a URL.
  public func removeAll(url: String) async {
    lock.withLock { for position in state.positions[url] ?? [] { remove(position) } }
  }

  /// Removes all responses of a scope.
  public func removeAll(scope: String) async {
    lock.withLock {
      for position in state.positions.values.flatMap(\.self) {
        if state.nodes[position]?.key.scopes.contains(scope) == true { remove(position) }
      }
    }
  }

  /// Removes everything.
  public func removeAll() async { lock.withLock { state = State() } }

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

  /// Removes a node; the lock is held.
  private func remove(_ position: Int) {
    guard let node = state.nodes[position] else { return }
    state.size -= node.response.size
    state.nodes.remove(position)
    let left = state.positions[node.key.url]?.filter { $0 != position } ?? []
    state.positions[node.key.url] = left.isEmpty ? nil : left
  }
}

extension StoredResponse {
  /// Whether two values are the same response of the same arrival.
  package func isSame(as other: StoredResponse) -> Bool {
    receivedAt == other.receivedAt && storedAt == other.storedAt && variant == other.variant
  }
}
