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
public final class ScopeEndings: Sendable {
  private struct Member {
    weak var chain: Chain?
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var members: [Member] = []

  /// Adds a client's list, and forgets those of clients that are gone.
  func add(_ chain: Chain) {
    lock.withLock {
      members.removeAll { $0.chain == nil }
      members.append(Member(chain: chain))
    }
  }

  /// Calls ``RequestBehavior/scopeEnded(_:)`` of every behavior.
  ///
  /// - Parameter scope: What ``RequestBehavior/scope(for:)`` returned while the scope lasted.
  public func end(_ scope: String) async {
    for chain in lock.withLock({ members.compactMap(\.chain) }) {
      for entry in chain.pipeline.entries { await entry.behavior.scopeEnded(scope) }
    }
  }
}

/// Whether a send went for another user than the call was begun for.
private enum HasLeftScopes: CallKey {
  static let defaultValue = false
}

extension Call {
  /// What tells the behaviors of the call's client that a scope has ended; `nil` for a call without a client.
  public var scopeEndings: ScopeEndings? { waits?.scopeEndings }

  /// Notes for whom a send goes.
  ///
  /// Between the beginning of a call and a send somebody may have signed in. The response is then another user's than
  /// ``scopes`` say, and ``keepsScopes`` is false from then on.
  ///
  /// - Parameter scope: The scope to which the credentials of the send belong.
  public func noteSend(for scope: String) {
    if !scopes.contains(scope) { leaveScopes() }
  }

  func leaveScopes() { self[HasLeftScopes.self] = true }

  /// Whether every send went for those for whom the call was begun; if not, its response is neither stored nor shared.
  public var keepsScopes: Bool { !self[HasLeftScopes.self] }
}
