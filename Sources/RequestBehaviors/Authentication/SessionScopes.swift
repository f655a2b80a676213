/// Tells the clients of a session that an owner has ended: the user has signed out or been replaced.
package final class SessionScopes: Sendable {
  private struct Client {
    let id: ObjectIdentifier
    weak var endings: ScopeEndings?
    // Kept when the client is gone: it may have left data of a user in a file.
    let leftovers: ScopeLeftovers
  }

  private struct State {
    var clients: [Client] = []
    var telling: Task<Void, Never>?
    var waiters: [Waiter<Void>] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Adds the client of a call.
  package func follow(_ call: Call) {
    guard let endings = call.scopeEndings else { return }
    let id = ObjectIdentifier(endings)
    state.withLock { state in
      // In place, because copying a weak reference costs more than the rest.
      for index in state.clients.indices where state.clients[index].id == id && state.clients[index].endings != nil {
        return
      }
      state.clients.removeAll { $0.endings == nil && $0.leftovers.isEmpty }
      state.clients.append(Client(id: id, endings: endings, leftovers: endings.leftovers))
    }
  }

  /// Tells the clients that an owner has ended, after those that ended before.
  package func end(_ scope: String) {
    state.withLock { state in
      let clients = state.clients.map { (endings: $0.endings, leftovers: $0.leftovers) }
      guard !clients.isEmpty else { return }
      // At once, so that a response that arrives from now on for this owner is not stored.
      for client in clients { client.endings?.note(scope) }
      state.telling = Task { [telling = state.telling] in
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
  package func add(_ waiter: Waiter<Void>) { state.withLock { $0.waiters.append(waiter) } }

  /// Releases those who wait for the owner to become known.
  package func release() {
    let released = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// Waits until the clients know of all owners that have ended.
  package func wait() async { await state.withLock { $0.telling }?.value }
}
