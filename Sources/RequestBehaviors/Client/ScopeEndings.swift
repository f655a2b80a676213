import Foundation

/// Tells the behaviors of a client, and of its variants, that a scope has ended.
///
/// What signs users in and out keeps the one of each call that it serves (``Call/scopeEndings``), weakly, and calls
/// ``end(_:)`` when the user has gone:
///
/// ```swift
/// func signOut() async {
///   let ended = takeScope()
///   await endings?.end(ended)
/// }
/// ```
///
/// The calls of the scope that are under way lose their owner at once (``CallOwner``): what they receive is not kept.
public final class ScopeEndings: Sendable {
  private struct Member {
    weak var chain: Chain?
  }

  /// How many endings are remembered; a call that began before them has lost its owner.
  private static let limit = 1_000

  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var members: [Member] = []
  nonisolated(unsafe) private var lastNumber: UInt64 = 0
  nonisolated(unsafe) private var lastForgotten: UInt64 = 0
  // Protected by `lock` too: which ending was the latest of each scope.
  nonisolated(unsafe) private var numbers: [String: UInt64] = [:]
  // Protected by `lock` too: what is left of each scope, and how it is removed.
  nonisolated(unsafe) private var leftovers: [String: [String: @Sendable () async -> Void]] = [:]

  /// Adds a client's list, and forgets those of clients that are gone.
  func add(_ chain: Chain) {
    lock.withLock {
      members.removeAll { $0.chain == nil }
      members.append(Member(chain: chain))
    }
  }

  /// Notes that a scope has ended, and then calls ``RequestBehavior/scopeEnded(_:)`` of every behavior.
  ///
  /// - Parameter scope: What ``RequestBehavior/scope(for:)`` returned while the scope lasted.
  public func end(_ scope: String) async {
    note(scope)
    await tell(scope)
  }

  /// Notes that a scope has ended: calls of it that began before have no owner any more, and the transports forget its
  /// cookies.
  ///
  /// For a session that must not wait while it changes; it calls ``tell(_:)`` afterwards.
  ///
  /// - Parameter scope: What ``RequestBehavior/scope(for:)`` returned while the scope lasted.
  public func note(_ scope: String) {
    let chains = lock.withLock {
      lastNumber += 1
      numbers[scope] = lastNumber
      if numbers.count > ScopeEndings.limit {
        let oldest = numbers.values.sorted()[numbers.count / 2]
        numbers = numbers.filter { $0.value > oldest }
        lastForgotten = oldest
      }
      return members.compactMap(\.chain)
    }
    var told: Set<ObjectIdentifier> = []
    for chain in chains {
      let transport = chain.transport
      // Variants share one; of a value nobody can tell.
      let isClass = type(of: transport) is AnyClass
      if !isClass || told.insert(ObjectIdentifier(transport as AnyObject)).inserted { transport.forgetUser() }
    }
  }

  /// Tells every behavior that a scope has ended, which was noted before.
  ///
  /// - Parameter scope: What ``RequestBehavior/scope(for:)`` returned while the scope lasted.
  public func tell(_ scope: String) async {
    for chain in lock.withLock({ members.compactMap(\.chain) }) {
      for entry in chain.pipeline.entries { await entry.behavior.scopeEnded(scope) }
    }
    let removals = lock.withLock { leftovers.removeValue(forKey: scope) ?? [:] }
    for remove in removals.values { await remove() }
  }

  /// Has something removed when one of the scopes ends.
  func whenOneEnds(of scopes: [String], id: String, _ remove: @escaping @Sendable () async -> Void) {
    lock.withLock { for scope in scopes { leftovers[scope, default: [:]][id] = remove } }
  }

  /// Forgets what was to be removed when a scope ends.
  func forget(id: String) {
    lock.withLock {
      for scope in leftovers.keys { leftovers[scope]?[id] = nil }
      leftovers = leftovers.filter { !$0.value.isEmpty }
    }
  }

  /// How many scopes have ended.
  var count: UInt64 { lock.withLock { lastNumber } }

  /// Whether one of the scopes has ended since there were so many endings.
  func hasEnded(_ scopes: [String], since count: UInt64) -> Bool {
    guard !scopes.isEmpty else { return false }
    return lock.withLock {
      guard count < lastNumber else { return false }
      return count < lastForgotten || scopes.contains { numbers[$0].map { $0 > count } ?? false }
    }
  }
}

extension Call {
  /// What tells the behaviors of the call's client that a scope has ended; `nil` for a call without a client.
  public var scopeEndings: ScopeEndings? { waits?.scopeEndings }
}
