/// Whose call it is, and whether they are still there.
///
/// A call is bound to the scopes that behaviors return for it before it begins (``RequestBehavior/scope(for:)``), and
/// to those that its sends are noted for (``Call/noteSend(for:)``). They leave when a scope ends
/// (``ScopeEndings/end(_:)``), at a sign-out for example.
///
/// What keeps a response, or a part of one, asks at the moment at which it keeps it; where there is a transaction, in
/// the transaction. A user may have signed out while the response was on its way:
///
/// ```swift
/// func afterSuccess(
///   _ response: NetworkResponse, for request: NetworkRequest
/// ) async throws {
///   let visit = Visit(page: response.request.url)
///   try await store.write { db in
///     try request.call.owner.verify()
///     try db.save(visit, into: "visit")
///   }
/// }
/// ```
public struct CallOwner: Sendable {
  /// What behaviors returned for the call before it began; empty if the response is the same for everybody.
  public private(set) var scopes: [String] = []
  /// The scopes that sends went for though the call was not begun for them.
  private(set) var laterScopes: [String] = []
  /// Whether a send went for somebody else whom no scope names.
  private var hasLeft = false
  /// How many scopes had ended when the call began.
  private var endingCount: UInt64 = 0
  private var endings: ScopeEndings?

  init() {}

  /// Whether none of the scopes has ended since the call began.
  public var isPresent: Bool {
    guard let endings else { return true }
    return !endings.hasEnded(scopes, since: endingCount) && !endings.hasEnded(laterScopes, since: endingCount)
  }

  /// Whether every send went for those for whom the call was begun.
  var isSame: Bool { laterScopes.isEmpty && !hasLeft }

  /// Throws unless those whose call it is are still there.
  ///
  /// It takes well under a microsecond, and does not wait.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``.
  public func verify() throws {
    guard isPresent else { throw NetworkError.ownerHasLeft() }
  }

  /// Begins to count what ends.
  fileprivate mutating func begin(with endings: ScopeEndings?) {
    guard self.endings == nil, let endings else { return }
    self.endings = endings
    endingCount = endings.count
  }

  /// Notes that a send went for somebody else.
  fileprivate mutating func leave() { hasLeft = true }

  /// Adds a scope that the call is begun for.
  fileprivate mutating func bind(to scope: String) { scopes.append(scope) }

  /// Adds the scope that a send goes for.
  fileprivate mutating func bind(sendTo scope: String) {
    if !scopes.contains(scope), !laterScopes.contains(scope) { laterScopes.append(scope) }
  }
}

extension Call {
  /// Whose call it is, by now.
  public var owner: CallOwner { withState { $0.owner } }

  /// Whose response this is, as the behaviors' ``RequestBehavior/scope(for:)`` returned before the chain began.
  public var scopes: [String] { owner.scopes }

  /// Whether every send went for those for whom the call was begun, and they are still there; if not, its response is
  /// neither stored nor shared.
  public var keepsScopes: Bool {
    let owner = owner
    return owner.isSame && owner.isPresent
  }

  /// Notes for whom a send goes.
  ///
  /// Between the beginning of a call and a send somebody may have signed in. The response is then another user's than
  /// ``scopes`` say, and ``keepsScopes`` is false from then on.
  ///
  /// - Parameter scope: The scope to which the credentials of the send belong.
  public func noteSend(for scope: String) {
    let endings = scopeEndings
    withState { state in
      state.owner.begin(with: endings)
      state.owner.bind(sendTo: scope)
    }
  }

  /// Begins to watch for scopes that end; called before behaviors are asked for theirs.
  func beginOwner() {
    let endings = scopeEndings
    withState { $0.owner.begin(with: endings) }
  }

  /// Notes that a send went for somebody else than the call was begun for.
  func leaveScopes() { withState { $0.owner.leave() } }

  /// Adds the scope that the behavior at a place of the list gave.
  func add(scope: String, of index: Int) {
    withState { state in
      state.owner.bind(to: scope)
      state.coverage.scoped.append(index)
    }
  }
}

extension NetworkError {
  fileprivate static func ownerHasLeft() -> NetworkError {
    NetworkError(
      .signedOut,
      "the user of the request signed out, or somebody else signed in, while it was under way; nothing of it is kept"
    )
  }
}
