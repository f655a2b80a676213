/// Tells the behaviors of a client and its variants that an owner has ended: the user has left.
///
/// An object that signs users in and out stores the one of each call that it serves (``Call/scopeEndings``), weakly,
/// and calls ``end(_:)`` when the user has left:
///
/// ```swift
/// func signOut() async {
///   let ended = takeScope()
///   await endings?.end(ended)
/// }
/// ```
///
/// The owner's calls under way lose their owner at once (``CallOwner``), and their responses are not stored.
public final class ScopeEndings: Sendable {
  /// A client's list, as far as it is told of endings.
  ///
  /// Only this object is referred to weakly. Retaining such an object costs several times as much, and a request
  /// retains the list at every step.
  final class Listener: Sendable {
    fileprivate let pipeline: Pipeline
    fileprivate let transport: any Transport

    init(_ pipeline: Pipeline, _ transport: any Transport) {
      self.pipeline = pipeline
      self.transport = transport
    }
  }

  private struct Member {
    weak var listener: Listener?
  }

  private struct State {
    var members: [Member] = []
    /// The number of members at which those of clients that are gone are dropped.
    var limit = 16
    var log = ScopeEndingLog()
  }

  private let state = Locked(State())
  /// The data that the client and its variants keep of owners, and their transports.
  public let leftovers = ScopeLeftovers()

  /// Adds a client's list.
  func add(_ listener: Listener) {
    leftovers.add(listener.transport)
    state.withLock { state in
      if state.members.count >= state.limit {
        state.members.removeAll { $0.listener == nil }
        // Twice the number in use, so that a variant costs the same, however many there are.
        state.limit = max(16, state.members.count * 2)
      }
      state.members.append(Member(listener: listener))
    }
  }

  /// Records that an owner has ended, and then calls ``RequestBehavior/scopeEnded(_:)`` of every behavior.
  ///
  /// - Parameter scope: The value that ``RequestBehavior/scope(for:)`` returned while the user was signed in.
  public func end(_ scope: String) async {
    note(scope)
    await tell(scope)
  }

  /// Records that an owner has ended: its calls that began before lose their owner, and transports drop its cookies.
  ///
  /// Use it in a session that must not wait while it changes, and call ``tell(_:)`` afterwards.
  ///
  /// - Parameter scope: The value that ``RequestBehavior/scope(for:)`` returned while the user was signed in.
  public func note(_ scope: String) {
    state.withLock { $0.log.note(scope) }
    forgetUser()
  }

  /// Lets transports drop what belongs to a user, such as cookies, as ``note(_:)`` does.
  ///
  /// A session calls it again after the wait for requests that were being handed over meanwhile
  /// (``HandOvers/makeWait()``). Cookies that came since the first call are dropped too.
  public func forgetUser() {
    let listeners = state.withLock { $0.members.compactMap(\.listener) }
    var told: Set<ObjectIdentifier> = []
    for listener in listeners {
      // Variants share one transport. Values have no identity, so each of them is told.
      let isNew = listener.transport.asObject.map { told.insert(ObjectIdentifier($0)).inserted } ?? true
      if isNew { listener.transport.forgetUser() }
    }
  }

  /// Tells every behavior that an owner has ended, after ``note(_:)``.
  ///
  /// Of the caches that share their stored responses (``ResponseCache/leftoverID``), one is told. Of the
  /// behaviors of one type that share an object, such as those of several variants, one is told.
  ///
  /// - Parameter scope: The value that ``RequestBehavior/scope(for:)`` returned while the user was signed in.
  public func tell(_ scope: String) async {
    // The next user may use the places of this work while a behavior takes its time.
    await leftovers.endWork(of: scope)
    var removed: Set<String> = []
    var told: Set<StateIdentity> = []
    for listener in state.withLock({ $0.members.compactMap(\.listener) }) {
      for entry in listener.pipeline.entries {
        if let cache = entry.behavior as? any ResponseCache, !removed.insert(cache.leftoverID).inserted { continue }
        if let state = entry.behavior.stateIdentity, !told.insert(state).inserted { continue }
        await entry.behavior.scopeEnded(scope)
      }
    }
    // These are the data of variants that are gone, of requests with behaviors of their own, and of downloads.
    await leftovers.remove(of: scope, except: removed)
  }

  /// The number of endings so far.
  var count: UInt64 { state.withLock { $0.log.count } }

  /// Whether one of the owners has ended since there were so many endings.
  func hasEnded(_ scopes: some Collection<String>, since count: UInt64) -> Bool {
    guard !scopes.isEmpty else { return false }
    return state.withLock { state in scopes.contains { state.log.hasEnded($0, since: count) } }
  }
}

/// The identity of what a behavior keeps: of two types over one object, each may keep something else.
private struct StateIdentity: Hashable {
  let type: ObjectIdentifier
  let object: ObjectIdentifier
}

extension RequestBehavior {
  /// The identity of what the behavior keeps; `nil` for a value whose state is unknown.
  fileprivate var stateIdentity: StateIdentity? {
    let isClass = type(of: self) is AnyClass
    let object = (self as? any SharedStateBehavior)?.sharedState ?? (isClass ? self as AnyObject : nil)
    return object.map { StateIdentity(type: ObjectIdentifier(type(of: self)), object: ObjectIdentifier($0)) }
  }
}

extension Call {
  /// The object that tells the behaviors of the call's client that an owner has ended; `nil` for a call without a
  /// client.
  public var scopeEndings: ScopeEndings? { lifetime?.scopeEndings }
}
