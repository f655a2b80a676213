import Foundation

/// Holds the token of a user, gets one before a request needs it, and refreshes it once for all requests.
///
/// ```swift
/// let session = TokenSession(
///   source: .refreshToken(endpoint), store: FileTokenStore(url: file))
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.tokenAuth(session)])
///
/// try await session.signIn(token)  // what the login returned
/// let user: User = try await client.send(.get("me"))
/// try await session.signOut()
/// ```
///
/// The state belongs to the session, not to a client: all clients that use it share it, and `client.reset()` does not
/// sign it out. Sessions over the same ``TokenStore`` share the state too: they follow the policy, clock and account of
/// the first one, and the token comes from the source of the session whose request needs it. The source always sends to
/// the server of the client with which the session was first used.
///
/// A token that is about to expire is refreshed before the request that needs it. If the server responds with 401, the
/// token is refreshed and the request sent once more. However many requests need a token, only one is asked for. They
/// wait for it, each with its own cancellation and deadline, and fail with its error. The next token is asked for only
/// after that response, even if all waiters have left: a refresh token must not be sent twice.
///
/// A call keeps the user it began with. After a sign-out it fails with ``NetworkError/Code-swift.struct/signedOut``
/// at every wait, and is not sent as the next user.
///
/// Expiry is measured from when a token came. A token from the source is sent until the server refuses it, even if it
/// says that it has expired: the clocks may differ. A token from the user or the store is refreshed first if its date
/// of expiry has passed.
///
/// Several processes may share a store, such as an app and its extension. One of them at a time refreshes the token
/// (``TokenStore/withRefreshLock(_:)``). The store is read again right before a token request is sent and after one was
/// refused. A token that another process has refreshed is used, and a sign-in or sign-out of another process applies
/// here too.
///
/// A call's deadline and timeouts (``RequestOptions/timeout``, ``RequestOptions/idleTimeout``) end its wait, not the
/// token request. The request has at least ``TokenRefreshPolicy/timeout``, because sending a refresh token spends it,
/// and the newer one in the response must not get lost. ``NetworkClient/shutdown()`` of the client that sent it waits
/// for it, too.
public final class TokenSession: Sendable {
  /// The name that tells sessions of one client apart, such as `"user"` and `"app"`; empty by default.
  public let name: String

  let source: any TokenSource
  /// The rights that the source asks for; `nil` if it does not tell.
  let rights: String?
  let coordinator: TokenCoordinator
  /// Held for the coordinator, which uses it when those of other sessions are closed.
  private let store: any TokenStore
  private let environment = Locked<ServerEnvironment?>(nil)

  /// Creates a session; it reads and sends nothing before a request needs it.
  ///
  /// - Parameters:
  ///   - name: The name that tells sessions of one client apart.
  ///   - source: The source of tokens.
  ///   - store: The store of the token; by default in memory.
  ///   - policy: The rules for when and how often tokens are refreshed.
  ///   - clock: The clock of expiries; by default that of the client whose request first needs the session.
  public init(
    name: String = "", source: any TokenSource, store: any TokenStore = InMemoryTokenStore(),
    policy: TokenRefreshPolicy = TokenRefreshPolicy(), clock: RequestClock? = nil
  ) {
    self.name = name
    self.source = source
    self.store = store
    self.rights = (source as? any RightsAskingTokenSource)?.rights
    self.coordinator = TokenCoordinators.coordinator(
      of: store, policy: policy, clock: clock,
      account: source.account.map { SessionAccount.id(ofService: $0, in: name) })
  }

  /// Takes a token that the user brought, such as the response to a login, and stores it.
  ///
  /// Requests that wait for an earlier user's token fail with ``NetworkError/Code-swift.struct/signedOut``.
  ///
  /// Each sign-in is a new owner: the responses and files of an earlier one are not used. To keep the same owner, name
  /// the account with ``signIn(_:as:)``.
  ///
  /// - Parameter token: The token.
  /// - Throws: The error of the store; the session is signed in all the same, and storing the token is tried again.
  ///   ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenUnavailable`` if the token cannot be sent: it is
  ///   empty, begins or ends with a space, or has control characters. The session is not signed in then.
  public func signIn(_ token: AccessToken) async throws { try await coordinator.signIn(token, id: nil) }

  /// Takes the token of a user whom the app knows by name, and stores it.
  ///
  /// It differs from ``signIn(_:)`` in that the same account is the same owner each time, on every device and after
  /// every launch. Files and queues that are kept over a sign-out belong to the user again after the next sign-in.
  ///
  /// ```swift
  /// try await session.signIn(token, as: profile.userID)
  /// ```
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - account: The name or number of the user, unique on the server; only a hash of it is kept.
  /// - Throws: As ``signIn(_:)``, and ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` if the
  ///   name is empty; the session is as it was then.
  public func signIn(_ token: AccessToken, as account: String) async throws {
    try SessionAccount.check(account)
    try await coordinator.signIn(token, id: SessionAccount.id(of: account, in: name))
  }

  /// The digests of the sign-ins that a module for them has finished, the newest last; sessions over one store share
  /// them.
  package var finishedSignIns: Locked<[Digest]> { coordinator.finishedSignIns }

  /// Returns the mark of a sign-in that takes several requests, for ``signIn(_:as:since:)``.
  ///
  /// The store is read first, so that an older change of another process, of which the session learns later, does not
  /// count as a newer one.
  package func signInMark(on clock: RequestClock) async -> Int {
    // However long it takes: the end of the sign-in needs the store, too.
    _ = await coordinator.readAgain(on: clock, within: nil)
    return coordinator.update { state, _ in state.userChanges }
  }

  /// Takes the token of a sign-in that took several requests, unless a sign-in or sign-out was asked for meanwhile.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - account: The name of the user; `nil` for a new owner.
  ///   - mark: The ``signInMark(on:)`` before the first of these requests.
  /// - Throws: As ``signIn(_:)``, and ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``; the
  ///   session is as it was then, and the token is of no use to it.
  package func signIn(_ token: AccessToken, as account: String?, since mark: Int) async throws {
    try await coordinator.signIn(token, id: account.map { SessionAccount.id(of: $0, in: name) }, since: mark)
  }

  /// Forgets the token, also in the store.
  ///
  /// Requests that wait for it fail with ``NetworkError/Code-swift.struct/signedOut``, and the result of a refresh
  /// under way is dropped. A source that can get a token without the user does so for the next request.
  ///
  /// It returns when no request with the token is on its way to a transport any more; after that none is handed over.
  /// (On Apple systems before iOS 26, macOS 26, tvOS 26, watchOS 26 and visionOS 26, a request that is being handed
  /// over at that moment may still go.)
  ///
  /// - Throws: The error of the store; the session is signed out all the same, and removing the token is tried again.
  public func signOut() async throws { try await coordinator.signOut() }

  /// Returns whether there is a token, which may have expired.
  ///
  /// A token that is bound to a key which the source does not have (RFC 9449) does not count, and stays in the store.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed`` when the store cannot be
  ///   read for the first time: a user may be signed in.
  public func isSignedIn() async throws -> Bool {
    try await coordinator.load()
    return coordinator.update { state, _ in state.issued }.map { problem(of: $0) == nil } ?? false
  }

  /// Reads the store again, and returns whether there is a token for any session or process that shares it.
  ///
  /// - Throws: As ``isSignedIn()``.
  package func isAnyUserSignedIn() async throws -> Bool {
    try await coordinator.queue.enqueue { [coordinator] in try await coordinator.readAgain() }.value()
    return coordinator.hasToken
  }

  /// The events of the session from now on; every access is a separate subscriber.
  public var events: TokenEvents { TokenEvents(coordinator.broadcast.subscribe()) }
}

extension TokenSession {
  /// Returns the reason why a token cannot be sent by this session; `nil` if it can.
  func problem(of issued: IssuedToken) -> NetworkError? {
    issued.token.keyThumbprint == nil ? nil : (source as? any KeyCheckingTokenSource)?.problem(of: issued.token)
  }

  /// Records the server of the first client; all token requests go there from then on.
  func follow(_ call: Call) {
    environment.withLock { environment in
      // A comparison would copy the environment.
      if case .some = environment { return }
      guard let own = call.options.environment, own.origin == call.baseOrigin else { return }
      environment = own
    }
  }

  /// The server of the first client; `nil` if that client had no base URL.
  var firstEnvironment: ServerEnvironment? { environment.withLock { $0 } }
}

extension TokenSession: CustomStringConvertible, CustomReflectable {
  /// The name of the type and of the session.
  public var description: String { name.isEmpty ? "TokenSession" : "TokenSession \"\(name)\"" }

  /// Only the description: a source may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
