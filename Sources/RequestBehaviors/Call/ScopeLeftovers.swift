/// The removals of the data that behaviors keep of owners, and the transports that keep cookies.
///
/// A behavior that keeps data of users in a store registers the removal when it stores something. The removal then runs
/// at the sign-out even if no client has the behavior any more.
///
/// A session takes over those of clients that are gone, so that the data of its users are removed all the same.
///
/// The removals of the latest 100,000 owners are remembered, because users of a server leave without a sign-out. The
/// data of an owner before them are removed at the sign-out by behaviors that are still listed.
public final class ScopeLeftovers: Sendable {
  /// Removes the data of one owner.
  public typealias Removal = @Sendable () async -> Void

  private struct Entry {
    /// Grows with every registration in the process.
    let number: UInt64
    /// Whether it ends what is under way; it then runs before behaviors are told of the end, which may take long.
    let isOfWork: Bool
    let remove: Removal
  }

  private struct WeakTransport: Sendable {
    weak var object: (any Transport & AnyObject)?
  }

  private struct State {
    /// The entries of each owner, by the name of the data.
    private(set) var owners: [String: [String: Entry]] = [:]
    /// The owners of each name of data, so that dropping it does not search all owners.
    private var scopes: [String: Set<String>] = [:]
    /// The transports, each once, however many clients have it.
    private(set) var transports: [ObjectIdentifier: WeakTransport] = [:]

    mutating func add(_ transport: any Transport & AnyObject) {
      let id = ObjectIdentifier(transport)
      // Each variant of a client adds the same one.
      if transports[id]?.object === transport { return }
      transports = transports.filter { $0.value.object != nil }
      transports[id] = WeakTransport(object: transport)
    }

    /// Drops the transports, and returns those that exist.
    mutating func takeTransports() -> [any Transport] {
      defer { transports = [:] }
      return transports.values.compactMap(\.object)
    }

    /// Adds an entry unless there is a later one of the same data.
    mutating func add(_ id: String, of scope: String, _ entry: Entry) {
      if let known = owners[scope]?[id], known.number > entry.number { return }
      owners[scope, default: [:]][id] = entry
      scopes[id, default: []].insert(scope)
      guard owners.count > ScopeLeftovers.limit else { return }
      // Half are dropped at once, so that sorting is rare.
      let latest = owners.mapValues { $0.values.map(\.number).max() ?? 0 }
      let oldest = latest.values.sorted()[owners.count / 2]
      for (scope, number) in latest where number <= oldest { _ = remove(scope) }
    }

    /// Drops the entries of an owner, and returns them.
    mutating func remove(_ scope: String) -> [String: Entry] {
      let entries = owners.removeValue(forKey: scope) ?? [:]
      for id in entries.keys { removeFromList(of: id, scope) }
      return entries
    }

    /// Drops the entries of an owner that end what is under way, and returns them.
    mutating func removeWork(of scope: String) -> [String: Entry] {
      let ending = owners[scope]?.filter(\.value.isOfWork) ?? [:]
      for id in ending.keys {
        owners[scope]?[id] = nil
        removeFromList(of: id, scope)
      }
      if owners[scope]?.isEmpty == true { owners[scope] = nil }
      return ending
    }

    private mutating func removeFromList(of id: String, _ scope: String) {
      scopes[id]?.remove(scope)
      if scopes[id]?.isEmpty == true { scopes[id] = nil }
    }

    /// Drops the entries of a name.
    mutating func forget(_ id: String) {
      for scope in scopes.removeValue(forKey: id) ?? [] {
        owners[scope]?[id] = nil
        if owners[scope]?.isEmpty == true { owners[scope] = nil }
      }
    }
  }

  private static let lastNumber = Locked<UInt64>(0)
  private static let limit = 100_000

  private let state = Locked(State())

  /// Creates a list without removals.
  public init() {}

  /// Whether no removal is registered, and no transport is known.
  public var isEmpty: Bool { state.withLock { $0.owners.isEmpty && $0.transports.isEmpty } }

  /// The number of owners whose data have a removal.
  package var ownerCount: Int { state.withLock { $0.owners.count } }

  /// Registers a removal that runs when the owner ends; it replaces an earlier one of the same data.
  ///
  /// - Parameters:
  ///   - id: The name of the data, such as that of a file.
  ///   - scope: The owner, as ``RequestBehavior/scope(for:)`` returned it.
  ///   - remove: Removes the data.
  public func add(_ id: String, of scope: String, _ remove: @escaping Removal) {
    add(id, of: scope, isOfWork: false, remove)
  }

  /// Registers what ends work that is under way when the owner ends, before behaviors are told of it.
  func addEnd(_ id: String, of scope: String, _ end: @escaping Removal) { add(id, of: scope, isOfWork: true, end) }

  private func add(_ id: String, of scope: String, isOfWork: Bool, _ remove: @escaping Removal) {
    let number = ScopeLeftovers.lastNumber.withLock { number in
      number += 1
      return number
    }
    state.withLock { $0.add(id, of: scope, Entry(number: number, isOfWork: isOfWork, remove: remove)) }
  }

  /// Registers a transport, which may outlive the client; a transport that is a value is gone with its client.
  func add(_ transport: any Transport) {
    guard let object = transport.asObject else { return }
    state.withLock { $0.add(object) }
  }

  /// Lets the transports of clients that are gone drop what belongs to a user, such as cookies, and forgets the
  /// transports.
  ///
  /// A session calls it on the list that it took over when it calls ``ScopeEndings/note(_:)`` for the other clients.
  /// Otherwise the cookies would go out with the next user's requests over the same transport.
  public func forgetUser() {
    for transport in state.withLock({ $0.takeTransports() }) { transport.forgetUser() }
  }

  /// Registers the removals and transports of a client that is gone; of two for the same data, the later one counts.
  ///
  /// - Parameter other: The removals of the client (``ScopeEndings/leftovers``).
  public func add(_ other: ScopeLeftovers) {
    let (owners, transports) = other.state.withLock { ($0.owners, $0.transports.values.compactMap(\.object)) }
    state.withLock { state in
      for transport in transports { state.add(transport) }
      for (scope, entries) in owners {
        for (id, entry) in entries { state.add(id, of: scope, entry) }
      }
    }
  }

  /// Drops the removals of data that are gone or that no longer belong to an owner.
  ///
  /// - Parameter id: The name of the data.
  public func forget(_ id: String) { state.withLock { $0.forget(id) } }

  /// Ends what is under way for an owner.
  func endWork(of scope: String) async {
    let due = state.withLock { $0.removeWork(of: scope) }
    for (_, entry) in due.sorted(by: { $0.key < $1.key }) { await entry.remove() }
  }

  /// Removes the data of an owner.
  ///
  /// - Parameters:
  ///   - scope: The owner.
  ///   - removed: The names of data that have been removed already; none by default.
  public func remove(of scope: String, except removed: Set<String> = []) async {
    let due = state.withLock { $0.remove(scope) }
    for (id, entry) in due.sorted(by: { $0.key < $1.key }) where !removed.contains(id) { await entry.remove() }
  }
}

extension Transport {
  /// The transport as an object; `nil` if it is a value, which on Apple systems could be cast to an object, too.
  var asObject: (any Transport & AnyObject)? {
    type(of: self) is AnyClass ? self as? any Transport & AnyObject : nil
  }
}
