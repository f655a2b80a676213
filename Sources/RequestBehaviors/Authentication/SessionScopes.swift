/// Tells the clients of a session that an owner has ended: the user has signed out or been replaced.
package final class SessionScopes: Sendable {
  private struct Client {
    weak var endings: ScopeEndings?
    /// The leftovers of these endings.
    ///
    /// They are held, so no other client has leftovers of this identity.
    let leftovers: ScopeLeftovers
  }

  private struct State {
    var clients: [Client] = []
    /// The latest notice to all clients that an owner has ended.
    var last: AwaitedTask?
    var waiters: [UInt64: Waiter<Void>] = [:]
    var lastWaiter: UInt64 = 0

    /// Drops the clients that do not exist any more, which may have left data of users in files.
    ///
    /// - Parameter leftovers: Gets the removals of these data.
    mutating func dropClients(addingTo leftovers: ScopeLeftovers) {
      clients.removeAll { client in
        guard client.endings == nil else { return false }
        leftovers.add(client.leftovers)
        return true
      }
    }
  }

  private let state = Locked(State())
  /// How to remove the data of users that clients kept which do not exist any more.
  private let leftovers = ScopeLeftovers()

  package init() {}

  /// Adds the client of a call.
  package func follow(_ call: Call) {
    guard let endings = call.scopeEndings else { return }
    state.withLock { state in
      // In place and by the leftovers, because copying or reading a weak reference costs more than the rest.
      for index in state.clients.indices where state.clients[index].leftovers === endings.leftovers { return }
      state.dropClients(addingTo: leftovers)
      state.clients.append(Client(endings: endings, leftovers: endings.leftovers))
    }
  }

  /// Tells the clients that an owner has ended, after those that ended before.
  ///
  /// - Parameters:
  ///   - scope: The owner.
  ///   - handOvers: The requests of the owner that are being handed to transports; by default they are not known.
  package func end(_ scope: String, handingOver handOvers: HandOvers? = nil) {
    state.withLock { state in
      state.dropClients(addingTo: leftovers)
      let clients = state.clients.map { (endings: $0.endings, leftovers: $0.leftovers) }
      guard !clients.isEmpty || !leftovers.isEmpty else { return }
      // Asked before transports forget their cookies: what they have received by then is in the old jar.
      let waitForLate = handOvers?.makeWait()
      // At once, so that a response that arrives from now on for this owner is not stored.
      for client in clients { client.endings?.note(scope) }
      leftovers.forgetUser()
      state.last = AwaitedTask(after: state.last) {
        guard let waitForLate else { return }
        // A request that has passed its last check may be sent with the new jar, which is then replaced as well.
        await waitForLate()
        for client in clients { client.endings?.forgetUser() }
      } _: { [leftovers] in
        for client in clients {
          await client.endings?.tell(scope)
          // Of a client that is there, nothing is left now.
          await client.leftovers.remove(of: scope)
        }
        await leftovers.remove(of: scope)
      }
    }
  }

  /// Adds a waiter for the owner of its call to become known.
  ///
  /// - Returns: The number to remove it by.
  package func add(_ waiter: Waiter<Void>) -> UInt64 {
    state.withLock { state in
      state.lastWaiter += 1
      state.waiters[state.lastWaiter] = waiter
      return state.lastWaiter
    }
  }

  /// Removes a waiter that waits no longer.
  package func remove(waiter number: UInt64) { state.withLock { $0.waiters[number] = nil } }

  /// Releases those who wait for the owner to become known.
  package func release() {
    let released = state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// Waits until the clients know of all owners that have ended.
  ///
  /// In a behavior that is being told of one, it returns at once where it would wait for itself: for the notice of its
  /// own session, or for that of another session whose behavior waits for this one.
  package func wait() async {
    _ = await state.withLock { $0.last }?.result()
  }

  /// The number of those who wait for the owner to become known.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }
}
