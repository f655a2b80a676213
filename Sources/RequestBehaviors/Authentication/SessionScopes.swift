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
    var telling: (id: UInt64, task: Task<Void, Never>)?
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

  /// The tellings of an owner's end that this task is a part of, the outermost first.
  ///
  /// A behavior that signs in or out while it is told would wait for itself.
  @TaskLocal private static var tellings: [UInt64] = []

  /// The tellings of all sessions that have not ended.
  ///
  /// Behaviors of two sessions may sign out each the other session.
  private static let waits = Locked(TellingWaits())

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
      let before = state.telling
      let id = SessionScopes.waits.withLock { $0.begin(after: before?.id) }
      let tellings = SessionScopes.tellings + [id]
      let task = Task {
        if let waitForLate {
          // A request that has passed its last check may be sent with the new jar, which is then replaced as well.
          await waitForLate()
          for client in clients { client.endings?.forgetUser() }
        }
        await before?.task.value
        await SessionScopes.$tellings.withValue(tellings) {
          for client in clients {
            await client.endings?.tell(scope)
            // Of a client that is there, nothing is left now.
            await client.leftovers.remove(of: scope)
          }
          await leftovers.remove(of: scope)
        }
        SessionScopes.waits.withLock { $0.end(id) }
      }
      state.telling = (id, task)
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
  /// In a behavior that is being told of one, it returns at once where it would wait for itself: for its own session,
  /// or for another one whose behavior waits for this one.
  package func wait() async {
    guard let telling = state.withLock({ $0.telling }) else { return }
    let own = SessionScopes.tellings
    guard SessionScopes.waits.withLock({ $0.beginWait(of: own, for: telling.id) }) else { return }
    await telling.task.value
    SessionScopes.waits.withLock { $0.endWait(of: own, for: telling.id) }
  }

  /// The number of those who wait for the owner to become known.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }
}

/// The tellings that have not ended, each with those that it waits for.
private struct TellingWaits {
  private var lastID: UInt64 = 0
  private var waits: [UInt64: [UInt64]] = [:]

  /// Adds a telling, which begins after the one before it of its session.
  mutating func begin(after last: UInt64?) -> UInt64 {
    lastID += 1
    waits[lastID] = last.map { [$0] } ?? []
    return lastID
  }

  mutating func end(_ id: UInt64) { waits[id] = nil }

  /// Begins to wait for a telling, unless it waits itself for one of those that would wait.
  ///
  /// - Parameters:
  ///   - own: The tellings that would wait, the outermost first; none for a task that is part of none.
  ///   - other: The telling to wait for.
  /// - Returns: Whether to wait.
  mutating func beginWait(of own: [UInt64], for other: UInt64) -> Bool {
    guard let last = own.last else { return true }
    var (found, next): (Set<UInt64>, [UInt64]) = ([other], [other])
    while let id = next.popLast() {
      // A telling that has ended keeps no one waiting.
      guard let others = waits[id] else { continue }
      if own.contains(id) { return false }
      next += others.filter { found.insert($0).inserted }
    }
    waits[last]?.append(other)
    return true
  }

  /// Ends a wait that has begun.
  mutating func endWait(of own: [UInt64], for other: UInt64) {
    guard let last = own.last, let place = waits[last]?.lastIndex(of: other) else { return }
    waits[last]?.remove(at: place)
  }
}
