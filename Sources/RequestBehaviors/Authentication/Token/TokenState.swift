import Foundation

/// The knowledge of a session and the decisions that follow from it: values in, decisions out.
///
/// Each token has a version. At most one refresh is under way; it gets the token of the next version, and requests that
/// need a token meanwhile wait for it. A refresh that takes too long is overdue: the waiters leave. No other refresh
/// begins before it has ended, because a refresh token must not be sent twice.
///
/// Signing in or out begins another generation and ends the refresh, whose result is then dropped. Expiry is measured
/// on the monotonic clock from when a token came, so that setting the wall clock does not change it.
///
/// ```text
///                 sign-in, or a token in the store
///   ┌──────────┐ ─────────────────────────────────▶ ┌─────────┐
///   │ no token │                                    │  fresh  │◀────────────┐
///   └──────────┘ ◀───── sign-out, refusal ───────── └─────────┘             │
///      │    ▲                                            │ leeway, or a 401  │ a token, saved
///      │    │                                            ▼                   │
///      │    └────── refused for good ────────────── ┌────────────┐ ──────────┘
///      └─────────── somebody needs one ───────────▶ │ refreshing │
///                                                   └────────────┘
///                                                     │      ▲
///                                 takes too long: who ▼      │ ends at last: its result counts
///                                 waited leaves     ┌─────────┐
///                                                   │ overdue │
///                                                   └─────────┘
/// ```
struct TokenState: Sendable {
  /// A refresh, which gets a first or a newer token.
  struct Refresh: Sendable, Hashable {
    let id: Int
    /// The version that it replaces.
    let version: Int
    let generation: Int
    /// Whether the token that it replaces may still be good: it has not expired, and no server has refused it for sure.
    let isPrecaution: Bool
  }

  /// The next step of a request that needs a token.
  enum Decision: Sendable {
    case use(IssuedToken)
    case wait
    case start(Refresh)
    case fail(any Error)
    /// The 401 is final: there is no newer token.
    case stand
  }

  struct Failure: Sendable {
    let version: Int
    let number: Int
    let error: any Error
  }

  let policy: TokenRefreshPolicy
  /// The owner while no user is signed in, which the source names; `nil` if it names no account.
  let account: String?
  var issued: IssuedToken?
  var isLoaded = false
  private(set) var version = 0
  private(set) var generation = 0
  /// The number of sign-ins and sign-outs of users, in any process, without the sessions that a server has ended.
  ///
  /// A longer sign-in that began before one of them is void.
  var userChanges = 0
  /// The generation in which the store turned out to be empty, until there is a token in it.
  ///
  /// Calls of it belong to the user who signs in next. It is `nil` for an account, whose calls do not.
  var emptyGeneration: Int?
  var refresh: Refresh?
  /// The sign-outs that wait for the token of a refresh which they have ended, by the refresh.
  var lateTokens: [Int: Waiter<AccessToken?>] = [:]
  /// The number of refreshes that have failed.
  var failureCount = 0
  /// The owner of the responses, for the keys of caches; no secret.
  private(set) var scope: String
  /// Whether no request was sent for this owner yet, so that the first token may have it.
  private var isScopeFree = true
  /// Whether a first token that is being stored has the owner by now.
  private var isScopePromised = false
  /// Whether the store lacks the session's last change, because writing it failed.
  var isUnsaved = false
  /// Whether that change is a sign-in or a sign-out that the user asked for.
  var isUserUnsaved = false
  /// The token that the store held when it was last read or written.
  var stored: AccessToken?
  var isStoreKnown = false
  var pendingSaves = 0
  /// The token as the user or the store gave it, and when it came.
  var arrival: (token: AccessToken, at: Duration)?
  var expiry: Expiry?
  var failure: Failure?
  var isOverdue = false
  /// Whether the refresh has the store's lock: it may have asked for a token.
  var isAlone = false
  var isCounted = false
  var lastRefresh = 0
  /// The times of the refreshes that count for the limit, the oldest first.
  var refreshTimes: [Duration] = []
  private let makeID: @Sendable () -> String

  /// Whether the session has a token, fresh or not.
  var hasToken: Bool { issued != nil }

  /// Whether calls that begin now have an owner: the user, or the account that no user signs in to.
  var hasOwner: Bool { hasToken || account != nil }

  /// The token that the session has; `nil` if it has none.
  var token: AccessToken? { issued?.token }

  /// The generation of the owner of a call that begins now; `nil` if there is no owner.
  ///
  /// Before the store is read, a user may be signed in, so this is the generation.
  var user: Int? { isLoaded && !hasOwner ? nil : generation }

  init(
    policy: TokenRefreshPolicy, account: String? = nil, makeID: @escaping @Sendable () -> String = { Nonce.make() }
  ) {
    self.policy = policy
    self.account = account
    self.makeID = makeID
    self.scope = account ?? makeID()
  }

  // MARK: - Requests

  /// Whether a token is the session's newest.
  func isCurrent(_ issued: IssuedToken) -> Bool {
    issued.generation == generation && issued.version == version && self.issued != nil
  }

  // MARK: - Sign-in and sign-out

  /// Takes a token that the user brought; the count of refreshes starts at zero again.
  mutating func signIn(_ token: AccessToken, id: String? = nil, now: Duration, date: Date) {
    userChanges += 1
    isUserUnsaved = true
    beginGeneration()
    refreshTimes = []
    var received = token.received(at: date)
    // A call that began before the sign-in is not this user's.
    received.sessionID = id ?? makeID()
    if id != nil { received.signInID = makeID() }
    take(received, cameAs: token, now: now, date: date)
  }

  /// Forgets the token because the user asked for it, and not because a server or another process did.
  mutating func signOutAsRequested() {
    userChanges += 1
    isUserUnsaved = true
    signOut()
    // The source must be reached to say that no user is signed in.
    refreshTimes = []
  }

  /// Forgets the token.
  mutating func signOut() {
    beginGeneration()
    issued = nil
    expiry = nil
    scope = account ?? makeID()
    isScopeFree = true
  }

  /// Records that a request was sent without a token: its response does not belong to a user who signs in later.
  ///
  /// - Returns: Whether the owner so far is a user, or an account, to whom that response does not belong either.
  mutating func noteSendWithoutToken() -> Bool {
    isScopeFree = false
    return hasOwner || isScopePromised
  }

  /// Returns a token with the id of its owner, which the source does not give to a first token.
  ///
  /// Whatever is stored has the id: without it, each process that shares the store would take its own id, and the first
  /// refresh in one would look like another user in the others.
  mutating func owned(_ new: AccessToken) -> AccessToken {
    guard new.sessionID == nil else { return new }
    var new = new
    // The call that got the first token began with the owner that the session had until now, and its response is stored
    // under that owner.
    let id = account ?? (isScopeFree ? scope : makeID())
    new.sessionID = id
    scope = id
    isScopeFree = false
    isScopePromised = true
    return new
  }

  mutating func beginGeneration() {
    isLoaded = true
    isScopePromised = false
    generation += 1
    endRefresh()
    failure = nil
  }

  mutating func endRefresh() {
    refresh = nil
    isOverdue = false
    isAlone = false
    isCounted = false
  }

  /// Takes a token that the source has not just given: the date decides about its expiry.
  mutating func take(_ new: AccessToken, cameAs original: AccessToken, now: Duration, date: Date) {
    set(new, now: now, remaining: original.remaining(at: date), trustsClock: true)
    arrival = (original, now)
  }

  /// Takes a token.
  ///
  /// A lifetime that is already over does not count for one that the server has just given, because the clocks may
  /// differ.
  mutating func set(_ new: AccessToken, now: Duration, remaining: Duration?, trustsClock: Bool) {
    version += 1
    if emptyGeneration == generation { emptyGeneration = nil }
    let new = owned(new)
    isScopeFree = false
    isScopePromised = false
    issued = IssuedToken(token: new, version: version, generation: generation)
    scope = new.sessionID ?? scope
    arrival = nil
    setExpiry(forLifetime: new.lifetime, now: now, remaining: remaining, trustsClock: trustsClock)
  }
}

/// A token as it is handed to requests.
final class IssuedToken: Sendable {
  let token: AccessToken
  /// The number of the token: grows with every token of the session.
  let version: Int
  /// The generation of its user: grows with every sign-in and sign-out.
  let generation: Int
  /// Whether the refresh ended while the request waited.
  let isFresh: Bool
  /// The value of an `Authorization` field with the token's own type as the scheme, made once for all requests.
  let authorization: String

  init(token: AccessToken, version: Int, generation: Int, isFresh: Bool = false) {
    self.token = token
    self.version = version
    self.generation = generation
    self.isFresh = isFresh
    // Servers send `bearer` but expect `Bearer` (RFC 6749 §5.1 compares without case, implementations do not).
    let schemes = ["bearer": "Bearer", "dpop": "DPoP"]
    self.authorization = (schemes[token.type.lowercased()] ?? token.type) + " " + token.value
  }

  /// The same token, marked as one that a request waited for.
  var fresh: IssuedToken { IssuedToken(token: token, version: version, generation: generation, isFresh: true) }
}
