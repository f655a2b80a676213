import Foundation
import RequestBehaviors

/// The things that all parts of an outbox share: store, client, types, and what is known of entries under way.
final class OutboxCore: Sendable {
  let store: SQLiteStore
  let client: NetworkClient
  let queue: String
  let handlers: [String: OutboxHandler]
  let settings: OutboxConfiguration
  let files: OutboxFiles?
  let origin: Origin
  /// The origin as the file keeps it.
  let originText: String
  /// The origins of entries that this program can send.
  let sendableOrigins: [String]
  let signal = OutboxSignal()
  let tickets: OutboxTickets
  let watch: OutboxWatch
  let broadcast = Broadcast<OutboxEvent>(limit: 1_000)

  private struct State {
    var owners: ClientOwners
    /// Owners that a session has had, and which do not come back unless they are accounts.
    var sessionScopes: Set<String> = []
    /// Owners who have left and whose entries are still to be discarded, each with the number of its end.
    var ended: [String: UInt64] = [:]
    var lastEnded: UInt64 = 0
    /// Entries whose request could not be made yet.
    var notReady: Set<Int64> = []
    /// The number of deliveries, which may be what these entries wait for.
    var deliveries = 0
    /// The reading of who is signed in, for entries that need a user.
    var reading: Task<Void, Never>?
  }

  private let state: Locked<State>

  init(
    _ store: SQLiteStore, _ client: NetworkClient, _ queue: String, _ handlers: [String: OutboxHandler],
    _ settings: OutboxConfiguration, _ origin: Origin, _ owners: ClientOwners
  ) {
    self.store = store
    self.client = client
    self.queue = queue
    self.handlers = handlers
    self.settings = settings
    self.origin = origin
    originText = origin.description
    sendableOrigins = [originText] + settings.formerOrigins.map(\.description)
    files = OutboxFiles(of: store)
    let tickets = OutboxTickets()
    self.tickets = tickets
    watch = OutboxWatch(
      store, clock: client.configuration.clock, interval: settings.pollInterval, wake: { tickets.wake($0) })
    state = Locked(State(owners: owners))
    note(owners)
  }

  var clock: RequestClock { client.configuration.clock }

  /// The time in the file's unit.
  var now: Int64 { clock.date().storedTime }

  func table(_ db: Database) -> OutboxTable { OutboxTable(db: db, queue: queue) }

  /// Returns an ID for a new entry.
  func newID() -> UUID { RandomSource.timeOrderedUUID(at: clock.date()) }

  // MARK: Owners

  /// Asks the client for the owners of calls, and remembers them.
  @discardableResult
  func refreshOwners() async throws -> ClientOwners {
    let owners = try await client.owners()
    note(owners)
    return owners
  }

  /// Looks for a user whom another process has signed in.
  ///
  /// It takes a poll interval at most: a token store that hangs holds up no entry for longer.
  ///
  /// - Returns: Whether a session has a user now that had none.
  func findsUser() async throws -> Bool {
    let count = try await refreshOwners().sessionsWithoutUser
    guard count > 0 else { return false }
    _ = await clock.value(of: readSessions(), within: max(settings.pollInterval, .milliseconds(1)))
    return try await refreshOwners().sessionsWithoutUser < count
  }

  /// Begins to read who is signed in, or joins a reading under way.
  private func readSessions() -> Task<Void, Never> {
    state.withLock { state in
      if let reading = state.reading { return reading }
      let reading = Task {
        _ = await client.readSessionsAgain()
        self.state.withLock { $0.reading = nil }
      }
      state.reading = reading
      return reading
    }
  }

  private func note(_ owners: ClientOwners) {
    state.withLock { state in
      state.owners = owners
      for member in owners.members where member.isOfSession && member.isKnown {
        if let scope = member.scope { state.sessionScopes.insert(scope) }
      }
    }
  }

  /// The owners of calls that begin now.
  var members: [ClientOwners.Member] { client.owners(since: state.withLock { $0.owners }) }

  /// The owners whose entries can be sent now.
  ///
  /// A user who is back while old entries are still to be discarded is not among them.
  var present: Set<String?> {
    let (present, ended) = (OutboxScopes.present(members), endedOwners.keys)
    guard !ended.isEmpty else { return present }
    return present.filter { scope in !ended.contains { OutboxScopes.contains($0, in: scope) } }
  }

  /// The credentials that a request has with the client's options.
  func requirement(of options: RequestOptions) -> AuthenticationRequirement {
    options.explicitAuthentication ?? client.configuration.options.authentication
  }

  /// Whether the owner, which has ended, may come back.
  func mayReturn(_ scope: String) -> Bool { ClientOwners.isLasting(scope) || !isOfSession(scope) }

  /// Whether each of the owners is there or may come back.
  func mayAllReturn(_ scopes: [String]) -> Bool {
    let members = members
    return scopes.allSatisfy { scope in mayReturn(scope) || members.contains { $0.scope == scope } }
  }

  /// Whether the owner is or was that of a session, since the outbox was opened.
  func isOfSession(_ scope: String) -> Bool { state.withLock { $0.sessionScopes.contains(scope) } }

  /// The owners who have left and whose entries are still to be discarded, each with the number of its end.
  var endedOwners: [String: UInt64] { state.withLock { $0.ended } }

  func noteEnded(_ scope: String) {
    state.withLock { state in
      state.lastEnded += 1
      state.ended[scope] = state.lastEnded
    }
  }

  /// Notes that the entries of an owner are discarded, unless the owner has left once more since.
  func forgetEnded(_ scope: String, _ number: UInt64) {
    state.withLock { if $0.ended[scope] == number { $0.ended[scope] = nil } }
  }

  // MARK: Entries

  /// Returns why an entry is not sent by this program, whatever its user; nil if it is.
  func reasonToHold(_ row: OutboxRow) -> String? { reasonToHold(origin: row.origin, operation: row.operation) }

  func reasonToHold(origin found: String, operation: String) -> String? {
    if handlers[operation] == nil { return "the type \"\(operation)\" is not among the operations of this outbox" }
    if sendableOrigins.contains(found) { return nil }
    return "it was enqueued for \(found), and the client's base URL is on \(origin)"
  }

  /// The types of entries that this program can send.
  var sendableOperations: [String] { handlers.keys.sorted() }

  /// Returns the state of an entry.
  func state(of row: OutboxRow, present: Set<String?>) -> OutboxState {
    switch row.state {
    case StoredState.delivered: return .delivered
    case StoredState.sending: return .sending
    case StoredState.dead, StoredState.stopping: return .dead(row.reason)
    default: break
    }
    if let reason = reasonToHold(row) { return .held(reason) }
    if !present.contains(row.scope) { return .held("its user is not signed in") }
    return row.state == StoredState.blocked ? .blocked : .waiting(until: Date(storedTime: row.notBefore))
  }

  /// The number of deliveries so far.
  var deliveryCount: Int { state.withLock { $0.deliveries } }

  /// Counts a delivery.
  func noteDelivery() { state.withLock { $0.deliveries += 1 } }

  /// Notes entries that wait for a delivery.
  func noteNotReady(_ seqs: [Int64]) { state.withLock { $0.notReady.formUnion(seqs) } }

  /// Returns the entries that wait for a delivery, which are no longer noted.
  func takeNotReady() -> [Int64] {
    state.withLock { state in
      defer { state.notReady = [] }
      return state.notReady.sorted()
    }
  }

  // MARK: Events

  func tell(_ event: OutboxEvent) {
    if event.kind == .dead, let id = event.id { tickets.wake(id) }
    broadcast.publish(event)
  }

  func tell(_ events: [OutboxEvent]) {
    for event in events { tell(event) }
  }
}

extension ClientOwners {
  /// The number of sessions to which no user is signed in.
  fileprivate var sessionsWithoutUser: Int { members.count { $0.isOfSession && $0.isKnown && $0.scope == nil } }
}
