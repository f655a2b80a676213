import Foundation

/// Tells the clients that a session serves when the scope of a user has ended.
final class SessionScopes: Sendable {
  private struct Client {
    let id: ObjectIdentifier
    weak var endings: ScopeEndings?
  }

  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var clients: [Client] = []
  nonisolated(unsafe) private var telling: Task<Void, Never>?
  // Protected by `lock` too.
  nonisolated(unsafe) private var waiters: [Waiter<Void>] = []

  /// Notes the client of a call.
  func follow(_ call: Call) {
    guard let endings = call.scopeEndings else { return }
    let id = ObjectIdentifier(endings)
    lock.withLock {
      // In its place: a copy of a weak reference costs more than the rest.
      for index in clients.indices where clients[index].id == id && clients[index].endings != nil { return }
      clients.removeAll { $0.endings == nil }
      clients.append(Client(id: id, endings: endings))
    }
  }

  /// Tells that a scope has ended, after those that ended before.
  func end(_ scope: String) {
    lock.withLock {
      let endings = clients.compactMap(\.endings)
      guard !endings.isEmpty else { return }
      // At once: what a call of the scope receives from now on is not kept.
      for ending in endings { ending.note(scope) }
      telling = Task { [telling] in
        await telling?.value
        for ending in endings { await ending.tell(scope) }
      }
    }
  }

  /// Adds one who waits to learn who is signed in.
  func add(_ waiter: Waiter<Void>) { lock.withLock { waiters.append(waiter) } }

  /// Lets those go who wait to learn who is signed in.
  func release() {
    let released = lock.withLock {
      defer { waiters = [] }
      return waiters
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// Waits until all that has ended was told.
  func wait() async { await lock.withLock { telling }?.value }
}
