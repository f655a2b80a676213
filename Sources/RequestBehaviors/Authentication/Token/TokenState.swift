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
  /// The getting of a token.
  struct Refresh: Sendable, Hashable {
    let id: Int
    /// The version that it replaces.
    let version: Int
    let generation: Int
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
  /// Whether the store lacks the session's last change, because writing it failed.
  var isUnsaved = false
  /// The token that the store held when it was last read or written.
  var stored: AccessToken?
  var isStoreKnown = false
  var pendingSaves = 0
  /// The token as the user or the store gave it, and when it came.
  private var arrival: (token: AccessToken, at: Duration)?
  private var expiry: Expiry?
  var failure: Failure?
  var isOverdue = false
  /// Whether the refresh has the store's lock: it may have asked for a token.
  var isAlone = false
  var isCounted = false
  private var lastRefresh = 0
  var starts: [Duration] = []
  private let makeID: @Sendable () -> String

  /// Whether the session has a token, fresh or not.
  var hasToken: Bool { issued != nil }

  /// The token that the session has; `nil` if it has none.
  var token: AccessToken? { issued?.token }

  /// The generation of the user who would own a call that begins now; `nil` if no user is signed in.
  ///
  /// Before the store is read, a user may be signed in, so this is the generation.
  var user: Int? { isLoaded && !hasToken ? nil : generation }

  private struct Expiry: Sendable {
    let refreshAt: Duration
    let expiresAt: Duration
  }

  init(
    policy: TokenRefreshPolicy, account: String? = nil, makeID: @escaping @Sendable () -> String = { Nonce.make() }
  ) {
    self.policy = policy
    self.account = account
    self.makeID = makeID
    self.scope = account ?? makeID()
  }

  // MARK: - Requests

  /// The token, if it can be sent as it is and no refresh is under way.
  func usable(now: Duration) -> IssuedToken? {
    guard refresh == nil else { return nil }
    if let expiry, now >= expiry.refreshAt { return nil }
    return issued
  }

  /// The token, if it has not expired, even if it is time to refresh it.
  func unexpired(now: Duration) -> IssuedToken? {
    if let expiry, now >= expiry.expiresAt { return nil }
    return issued
  }

  /// Decides for a request that is to be sent.
  ///
  /// - Parameters:
  ///   - now: The monotonic time.
  ///   - snapshot: The number of failed refreshes when the request's call first came; only a later failure fails it.
  /// - Returns: The decision.
  mutating func acquire(now: Duration, snapshot: Int) -> Decision {
    // A refresh in time is waited for. After one that failed, or is overdue, a token that has not expired will do.
    if let issued = usable(now: now) { return .use(issued) }
    if refresh != nil, !isOverdue { return .wait }
    if let error = rememberedFailure(since: snapshot) { return unexpired(now: now).map { .use($0) } ?? .fail(error) }
    if refresh != nil { return unexpired(now: now).map { .use($0) } ?? .wait }
    guard isStormy(now) else { return .start(makeRefresh()) }
    // The refresh limit is reached, so the server must say whether this token has expired.
    if let issued { return .use(issued) }
    return .fail(NetworkError.tooManyRefreshes(policy, failure?.error))
  }

  /// Decides for a request whose token the server, or the user's check, rejected.
  mutating func renew(_ rejected: IssuedToken, now: Duration, snapshot: Int) -> Decision {
    // A token of an earlier user is not replaced. A token that is no longer the newest needs no refresh.
    guard rejected.generation == generation, issued != nil else { return .stand }
    guard rejected.version == version else { return acquire(now: now, snapshot: snapshot) }
    if refresh != nil, !isOverdue { return .wait }
    if let error = rememberedFailure(since: snapshot) { return .fail(error) }
    if refresh != nil { return .wait }
    return isStormy(now) ? .stand : .start(makeRefresh())
  }

  /// Whether a token is the session's newest.
  func isCurrent(_ issued: IssuedToken) -> Bool {
    issued.generation == generation && issued.version == version && self.issued != nil
  }

  // MARK: - Sign-in and sign-out

  /// Takes a token that the user brought; the count of refreshes starts at zero again.
  mutating func signIn(_ token: AccessToken, id: String? = nil, now: Duration, date: Date) {
    userChanges += 1
    beginGeneration()
    starts = []
    var received = token.received(at: date)
    // A call that began before the sign-in is not this user's.
    received.sessionID = id ?? makeID()
    take(received, cameAs: token, now: now, date: date)
  }

  /// Forgets the token because the user asked for it, and not because a server or another process did.
  mutating func signOutAsRequested() {
    userChanges += 1
    signOut()
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
  mutating func noteSendWithoutToken() { isScopeFree = false }

  mutating func beginGeneration() {
    isLoaded = true
    generation += 1
    endRefresh()
    failure = nil
  }

  private mutating func makeRefresh() -> Refresh {
    lastRefresh += 1
    let new = Refresh(id: lastRefresh, version: version, generation: generation)
    refresh = new
    return new
  }

  mutating func endRefresh() {
    refresh = nil
    isOverdue = false
    isAlone = false
    isCounted = false
  }

  private func rememberedFailure(since snapshot: Int) -> (any Error)? {
    guard let failure, failure.version == version, snapshot < failure.number else { return nil }
    return failure.error
  }

  private mutating func isStormy(_ now: Duration) -> Bool {
    starts.removeAll { now - $0 >= policy.window }
    return starts.count >= policy.limit
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
    var new = new
    // The call that got the first token began with the owner that the session had until now, and its response is stored
    // under that owner.
    if new.sessionID == nil { new.sessionID = account ?? (isScopeFree ? scope : makeID()) }
    isScopeFree = false
    issued = IssuedToken(token: new, version: version, generation: generation)
    scope = new.sessionID ?? scope
    arrival = nil
    setExpiry(forLifetime: new.lifetime, now: now, remaining: remaining, trustsClock: trustsClock)
  }

  private mutating func setExpiry(
    forLifetime lifetime: Duration?, now: Duration, remaining: Duration?, trustsClock: Bool
  ) {
    expiry = nil
    guard let remaining, trustsClock || remaining > .zero else { return }
    let leeway = policy.leeway(forLifetime: lifetime ?? remaining)
    expiry = Expiry(refreshAt: now + remaining - leeway, expiresAt: now + remaining)
  }

  /// Measures the expiry of the token that was brought or stored on another clock.
  ///
  /// - Parameters:
  ///   - clock: The clock, which the session goes by from now on.
  ///   - now: The time on the clock that it went by.
  mutating func follow(_ clock: RequestClock, now: Duration) {
    guard let token, let arrival else { return }
    let date = clock.date()
    var remaining = arrival.token.remaining(at: date)
    if arrival.token.expiresAt == nil { remaining = remaining.map { $0 - (now - arrival.at) } }
    let lifetime = arrival.token.received(at: date).lifetime ?? token.lifetime
    setExpiry(forLifetime: lifetime, now: clock.now(), remaining: remaining, trustsClock: true)
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
