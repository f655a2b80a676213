import Foundation

/// Who is signed in: holds a token, gets it before the request that needs it, refreshes it once for everybody.
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
/// The state belongs to the session, not to a client: all clients that use it share it, and `client.reset()` signs
/// nobody out. Sessions over the same ``TokenStore`` share it too; the first one's policy and clock then hold, and the
/// source of the one whose request needs a token gets it. The source sends to the server of the client that the session
/// was first used with, whichever client's request needs the token.
///
/// A token that is about to expire is refreshed before the request that needs it; one that the server answers 401 to
/// is refreshed, and the request sent once more. However many requests need a token, one is asked for; they wait for
/// it, each with its own cancellation and deadline, and fail with the error if it cannot be had. No other is asked for
/// before the response is there, however long those who waited have been gone: a refresh token must not be sent twice.
///
/// A call keeps the user it began with: after a sign-out it fails with ``NetworkError/Code-swift.struct/signedOut``
/// wherever it waits, and is not sent as the next user.
///
/// Expiry is measured from when a token came. One that the source gives is sent until the server refuses it, also if it
/// says that it has expired: the clocks may differ. One that the user brings or that was stored is refreshed first if
/// its date of expiry has passed.
///
/// Several processes may share a store, such as an app and its extension. One of them at a time refreshes the token
/// (``TokenStore/withRefreshLock(_:)``). The store is read again right before a token request is sent and after one was
/// refused: a token that another process has refreshed is used, and its sign-in or sign-out holds here too.
///
/// A call's deadline and times (``RequestOptions/timeout``, ``RequestOptions/idleTimeout``) end its wait, not the token
/// request, which has at least the time of ``TokenRefreshPolicy/timeout``: a refresh token that was sent is spent, and
/// the newer one in the response must not get lost.
public final class TokenSession: Sendable {
  /// What tells sessions of one client apart, such as `"user"` and `"app"`; empty by default.
  public let name: String

  let source: any TokenSource
  let coordinator: TokenCoordinator
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var environment: ServerEnvironment?

  /// Creates a session; nothing is read or sent before it is needed.
  ///
  /// - Parameters:
  ///   - name: What tells sessions of one client apart.
  ///   - source: Gets tokens.
  ///   - store: Where the token is kept; by default in memory.
  ///   - policy: When tokens are refreshed, and how often.
  ///   - clock: The clock of expiries; by default that of the client whose request first needs the session.
  public init(
    name: String = "", source: any TokenSource, store: any TokenStore = InMemoryTokenStore(),
    policy: TokenRefreshPolicy = TokenRefreshPolicy(), clock: RequestClock? = nil
  ) {
    self.name = name
    self.source = source
    self.coordinator = TokenCoordinators.coordinator(of: store, policy: policy, clock: clock)
  }

  /// Takes a token that the user brought, such as the response to a login, and stores it.
  ///
  /// Requests that wait for the token of somebody who was signed in fail with
  /// ``NetworkError/Code-swift.struct/signedOut``.
  ///
  /// Each sign-in is an owner of its own: what was cached or saved for an earlier one is not used. To come back to it,
  /// name the account with ``signIn(_:as:)``.
  ///
  /// - Parameter token: The token.
  /// - Throws: What the store throws; the session is signed in all the same, and storing the token is tried again.
  ///   ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenUnavailable`` if the token has control characters:
  ///   nobody is signed in by it.
  public func signIn(_ token: AccessToken) async throws { try await coordinator.signIn(token, id: nil) }

  /// Takes a token of a user whom the app knows by a name, and stores it.
  ///
  /// As ``signIn(_:)``, but that the same account is the same owner each time, on every device and after every launch:
  /// files and queues that are kept for who signs out are theirs again when they sign in.
  ///
  /// ```swift
  /// try await session.signIn(token, as: profile.userID)
  /// ```
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - account: The user's name or number, which no other user of the server gets; only a hash of it is kept.
  /// - Throws: As ``signIn(_:)``.
  public func signIn(_ token: AccessToken, as account: String) async throws {
    try await coordinator.signIn(token, id: SessionAccount.id(of: account, in: name))
  }

  /// Forgets the token, also in the store.
  ///
  /// Requests that wait for it fail with ``NetworkError/Code-swift.struct/signedOut``; a newer token that is being got
  /// is thrown away. A source that can get a token without the user does so for the next request.
  ///
  /// Returns when no request with the token is on its way to a transport any more: after that none is handed over.
  /// (Not so on Apple systems before iOS 26, macOS 26, tvOS 26, watchOS 26 and visionOS 26, where one that is being
  /// handed over at that moment may still go.)
  ///
  /// - Throws: What the store throws; the session is signed out all the same, and removing the token is tried again.
  public func signOut() async throws { try await coordinator.signOut() }

  /// Returns whether there is a token, which may have expired.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed`` when the store cannot be
  ///   read for the first time: somebody may be signed in.
  public func isSignedIn() async throws -> Bool {
    try await coordinator.load()
    return coordinator.hasToken
  }

  /// What happens to the session from now on; every access is a subscriber of its own.
  public var events: TokenEvents { coordinator.broadcast.subscribe() }
}

extension TokenSession {
  /// Notes the server of the first client, where the token requests go from then on.
  func follow(_ call: Call) {
    lock.withLock {
      guard environment == nil, let own = call.options.environment, own.origin == call.baseOrigin else { return }
      environment = own
    }
  }

  /// The server of the first client; `nil` if that had no base URL.
  var firstEnvironment: ServerEnvironment? { lock.withLock { environment } }
}

/// Who an account is to what keeps things for users.
enum SessionAccount {
  /// The id of an account, the same each time, and no name: it stands in keys and files.
  static func id(of account: String, in session: String) -> String {
    let text = "\(session.utf8.count):\(session)\(account)"
    return "account " + Data(HashFunction.sha256.digest(of: Array(text.utf8))).base64EncodedString()
  }
}

extension TokenSession: CustomStringConvertible, CustomReflectable {
  /// The name of the type and its own.
  public var description: String { name.isEmpty ? "TokenSession" : "TokenSession \"\(name)\"" }

  /// Only what the description shows: a source may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
