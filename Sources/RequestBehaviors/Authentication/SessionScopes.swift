import Foundation

/// Tells the clients of a session that an owner has ended: the user has signed out or been replaced.
final class SessionScopes: Sendable {
  private struct Client {
    let id: ObjectIdentifier
    weak var endings: ScopeEndings?
    // Kept when the client is gone: it may have left data of a user in a file.
    let leftovers: ScopeLeftovers
  }

  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var clients: [Client] = []
  nonisolated(unsafe) private var telling: Task<Void, Never>?
  // Protected by `lock` too.
  nonisolated(unsafe) private var waiters: [Waiter<Void>] = []

  /// Adds the client of a call.
  func follow(_ call: Call) {
    guard let endings = call.scopeEndings else { return }
    let id = ObjectIdentifier(endings)
    lock.withLock {
      // In place, because copying a weak reference costs more than the rest.
      for index in clients.indices where clients[index].id == id && clients[index].endings != nil { return }
      clients.removeAll { $0.endings == nil && $0.leftovers.isEmpty }
      clients.append(Client(id: id, endings: endings, leftovers: endings.leftovers))
    }
  }

  /// Tells the clients that an owner has ended, after those that ended before.
  func end(_ scope: String) {
    lock.withLock {
      let clients = clients.map { (endings: $0.endings, leftovers: $0.leftovers) }
      guard !clients.isEmpty else { return }
      // At once, so that a response that arrives from now on for this owner is not stored.
      for client in clients { client.endings?.note(scope) }
      telling = Task { [telling] in
        await telling?.value
        for client in clients {
          await client.endings?.tell(scope)
          // Of a client that is there, nothing is left now.
          await client.leftovers.remove(of: scope)
        }
      }
    }
  }

  /// Adds a waiter for the owner of its call to become known.
  func add(_ waiter: Waiter<Void>) { lock.withLock { waiters.append(waiter) } }

  /// Releases those who wait for the owner to become known.
  func release() {
    let released = lock.withLock {
      defer { waiters = [] }
      return waiters
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// Waits until the clients know of all owners that have ended.
  func wait() async { await lock.withLock { telling }?.value }
}
