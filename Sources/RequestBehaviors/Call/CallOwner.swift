/// The owners of a call, and whether they are still signed in.
///
/// A call belongs to the owners that behaviors return for it before it begins (``RequestBehavior/scope(for:)``), and to
/// those that its sends are noted for (``Call/noteSend(for:)``). An owner leaves when its scope ends
/// (``ScopeEndings/end(_:)``), at a sign-out for example.
///
/// A behavior that stores a response, or a part of one, asks at the moment of storing; if there is a transaction,
/// within it. A user may have signed out while the response was on its way:
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
  /// The owners that behaviors returned before the call began; empty if the response is the same for all users.
  public var scopes: [String] { Array(firstScopes) }
  // Not arrays, because most calls have one owner.
  private var firstScopes = ShortList<String>()
  /// The owners that sends were noted for after the call had begun for others.
  private(set) var laterScopes = ShortList<String>()
  /// Whether a send was made for another user, whose owner is not known by name.
  private(set) var isOfUnnamed = false
  /// Whether a send was made without the credentials of an owner.
  private(set) var isAnonymous = false
  /// The number of owners that had ended when the call began.
  private var endingCount: UInt64 = 0
  private var endings: ScopeEndings?

  init() {}

  /// Whether none of the owners has ended since the call began.
  public var isPresent: Bool {
    guard let endings else { return true }
    return !endings.hasEnded(firstScopes, since: endingCount) && !endings.hasEnded(laterScopes, since: endingCount)
  }

  /// Throws if one of these owners of the call has left since the call began; the other owners do not count.
  ///
  /// - Parameter scopes: The owners.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``.
  package func verify(only scopes: [String]) throws {
    if let endings, endings.hasEnded(scopes, since: endingCount) { throw NetworkError.ownerHasLeft() }
  }

  /// The owners that the call was begun for, and those that its sends were noted for.
  var allScopes: [String] { Array(firstScopes) + Array(laterScopes) }

  /// Whether every send was made for the owners that the call was begun for.
  var isSame: Bool { laterScopes.isEmpty && !isOfUnnamed }

  /// Throws unless the owners of the call are still signed in.
  ///
  /// It takes well under a microsecond, and does not wait.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``.
  public func verify() throws {
    guard isPresent else { throw NetworkError.ownerHasLeft() }
  }

  /// Cancels the body of a response and throws unless the owners of the call are still signed in.
  ///
  /// - Parameter response: The response.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``.
  func verify(for response: NetworkResponse) throws {
    do { try verify() } catch {
      response.body.cancel()
      throw error
    }
  }

  /// Begins to count the owners that end.
  fileprivate mutating func begin(with new: @autoclosure () -> ScopeEndings?) {
    guard endings == nil, let endings = new() else { return }
    self.endings = endings
    endingCount = endings.count
  }

  /// Records that a send was made for another, unnamed user.
  fileprivate mutating func leave() { isOfUnnamed = true }

  /// Records that a send was made without the credentials of an owner.
  fileprivate mutating func becomeAnonymous() { isAnonymous = true }

  /// Adds an owner that the call is begun for.
  fileprivate mutating func bind(to scope: String) { firstScopes.append(scope) }

  /// Adds the owner that a send is made for.
  fileprivate mutating func bind(sendTo scope: String) {
    if !firstScopes.contains(scope), !laterScopes.contains(scope) { laterScopes.append(scope) }
  }
}

extension Call {
  /// The owners of the call, as known by now.
  public var owner: CallOwner { withState { $0.owner } }

  /// The owners of the response, as ``RequestBehavior/scope(for:)`` returned them before the chain began.
  public var scopes: [String] { owner.scopes }

  /// Whether every send was made for the owners that the call was begun for, with their credentials, and they are
  /// still signed in.
  ///
  /// If not, the response is neither stored nor shared.
  public var keepsScopes: Bool {
    let owner = owner
    return owner.isSame && owner.isPresent && !owner.isAnonymous
  }

  /// Whether the call is still that of the owners that it was begun for, even if it is sent without their credentials.
  var keepsUser: Bool {
    let owner = owner
    return owner.isSame && owner.isPresent
  }

  /// Records the owner that a send is made for.
  ///
  /// Between the beginning of a call and a send a user may have signed in. The response then belongs to another user
  /// than ``scopes`` say, and ``keepsScopes`` is false from then on.
  ///
  /// - Parameter scope: The owner of the send's credentials.
  public func noteSend(for scope: String) {
    withState { state in
      state.owner.begin(with: scopeEndings)
      state.owner.bind(sendTo: scope)
    }
  }

  /// Begins to watch for owners that end; called before behaviors are asked for theirs.
  func beginOwner() {
    withState { $0.owner.begin(with: scopeEndings) }
  }

  /// Records that a send was made for another user than the call was begun for.
  func leaveScopes() { withState { $0.owner.leave() } }

  /// Records that a send is made without the credentials of an owner: its response is not the owner's.
  ///
  /// A behavior that adds credentials only where it has some calls it when it sends without them.
  public func becomeAnonymous() { withState { $0.owner.becomeAnonymous() } }

  /// Adds the owner that the behavior at an index of the list returned.
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
      "the user of the request signed out, or another user signed in, while it was under way; nothing of it is kept"
    )
  }
}

/// The numbers of the sign-ins that a call belongs to, by session.
///
/// A session of your own that counts its sign-ins records the number when a call begins. Then calls of two sign-ins do
/// not share a response, even if their owners have one name.
public enum SignInNumbers: CallKey {
  /// No session has recorded a number.
  public static let defaultValue: [ObjectIdentifier: Int] = [:]
}
