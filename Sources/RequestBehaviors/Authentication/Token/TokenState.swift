import Foundation

/// What a session knows, and what follows from it: values in, decisions out.
///
/// A token has a version. At most one flight, which gets the token of the next version, is under way; who needs a token
/// meanwhile waits for it. Signing in or out begins another generation and ends the flight: its result is of no use any
/// more. Expiry is measured on the monotonic clock from when a token came, so that a wall clock that is set does not
/// change it.
struct TokenState: Sendable {
  /// The getting of a token.
  struct Flight: Sendable, Hashable {
    let id: Int
    /// The version that it replaces.
    let version: Int
    let generation: Int
  }

  /// What a request that needs a token is to do.
  enum Decision: Sendable {
    case use(TokenLease)
    case wait
    case start(Flight)
    case fail(any Error)
    /// The 401 stands: nothing newer is to be had.
    case stand
  }

  private struct Failure: Sendable {
    let version: Int
    let number: Int
    let error: any Error
  }

  let policy: TokenRefreshPolicy
  private var lease: TokenLease?
  private(set) var isLoaded = false
  private(set) var version = 0
  private(set) var generation = 0
  private(set) var flight: Flight?
  /// How many flights have failed.
  private(set) var failureCount = 0
  /// Whose answers these are, for the keys of caches; no secret.
  private(set) var scope: String
  private var expiry: Expiry?
  private var failure: Failure?
  private var late: Set<Flight> = []
  private var lastFlight = 0
  private var starts: [Duration] = []
  private let makeID: @Sendable () -> String

  /// Whether the session has a token, fresh or not.
  var hasToken: Bool { lease != nil }

  /// The token that the session has; `nil` if it has none.
  var token: AccessToken? { lease?.token }

  private struct Expiry: Sendable {
    let refreshAt: Duration
    let expiresAt: Duration
  }

  init(policy: TokenRefreshPolicy, makeID: @escaping @Sendable () -> String = { Nonce.make() }) {
    self.policy = policy
    self.makeID = makeID
    self.scope = makeID()
  }

  // MARK: - Requests

  /// The token, if it can be sent as it is and none is being got.
  func usable(now: Duration) -> TokenLease? {
    guard flight == nil else { return nil }
    if let expiry, now >= expiry.refreshAt { return nil }
    return lease
  }

  /// The token, if it has not expired, even if it is time to refresh it.
  func unexpired(now: Duration) -> TokenLease? {
    if let expiry, now >= expiry.expiresAt { return nil }
    return lease
  }

  /// Decides for a request that is to be sent.
  ///
  /// - Parameters:
  ///   - now: The monotonic time.
  ///   - ticket: How many flights had failed when the request's call first came: a failure is not repeated for it.
  /// - Returns: What to do.
  mutating func acquire(now: Duration, ticket: Int) -> Decision {
    if let lease = usable(now: now) { return .use(lease) }
    if flight != nil { return .wait }
    if let error = rememberedFailure(since: ticket) { return unexpired(now: now).map { .use($0) } ?? .fail(error) }
    guard isStormy(now) else { return .start(makeFlight()) }
    // Whether a token has expired is for the server to say when no newer one may be asked for.
    if let lease { return .use(lease) }
    return .fail(NetworkError.tooManyRefreshes(policy, failure?.error))
  }

  /// Decides for a request whose token the server, or the user's check, did not accept.
  mutating func renew(_ rejected: TokenLease, now: Duration, ticket: Int) -> Decision {
    guard rejected.generation == generation, lease != nil else { return .stand }
    guard rejected.version == version else { return acquire(now: now, ticket: ticket) }
    if flight != nil { return .wait }
    if let error = rememberedFailure(since: ticket) { return .fail(error) }
    return isStormy(now) ? .stand : .start(makeFlight())
  }

  // MARK: - Sign-in and sign-out

  /// Takes a token that the user brought.
  mutating func signIn(_ token: AccessToken, now: Duration, date: Date) {
    beginGeneration()
    set(token, now: now, remaining: token.remaining(at: date), trustsClock: true)
  }

  /// Forgets the token.
  mutating func signOut() {
    beginGeneration()
    lease = nil
    expiry = nil
    version += 1
    scope = makeID()
  }

  private mutating func beginGeneration() {
    isLoaded = true
    generation += 1
    flight = nil
    late = []
    failure = nil
  }

  private mutating func makeFlight() -> Flight {
    lastFlight += 1
    let new = Flight(id: lastFlight, version: version, generation: generation)
    flight = new
    return new
  }

  private func rememberedFailure(since ticket: Int) -> (any Error)? {
    guard let failure, failure.version == version, ticket < failure.number else { return nil }
    return failure.error
  }

  private mutating func isStormy(_ now: Duration) -> Bool {
    starts.removeAll { now - $0 >= policy.window }
    return starts.count >= policy.limit
  }

  /// Takes a token; one that a server has just given has not expired, whatever the clock says.
  private mutating func set(_ new: AccessToken, now: Duration, remaining: Duration?, trustsClock: Bool) {
    version += 1
    var new = new
    if new.sessionID == nil { new.sessionID = makeID() }
    lease = TokenLease(token: new, version: version, generation: generation)
    scope = new.sessionID ?? scope
    expiry = nil
    guard let remaining, trustsClock || remaining > .zero else { return }
    let leeway = policy.leeway(forLifetime: new.lifetime ?? remaining)
    expiry = Expiry(refreshAt: now + remaining - leeway, expiresAt: now + remaining)
  }
}

// MARK: - Flights

extension TokenState {
  /// What a flight is to do once the store has been read.
  enum Errand: Sendable {
    case fetch
    case refresh(AccessToken)
    /// The stored token will do.
    case use(TokenLease)
    /// The session has changed; nobody waits.
    case end
  }

  /// What the end of a flight is for those who wait.
  enum Landing: Sendable {
    case use(TokenLease)
    case fail(any Error)
    /// They fail, and the session is signed out.
    case signOut(any Error)
    /// Nobody waits for this flight any more.
    case ignore
  }

  /// Takes what the store held, unless the session has a token by now.
  mutating func load(_ stored: AccessToken?, now: Duration, date: Date) {
    guard !isLoaded else { return }
    isLoaded = true
    guard let stored else { return }
    set(stored, now: now, remaining: stored.remaining(at: date), trustsClock: true)
  }

  /// Tells a flight what to do, and counts it if it is to ask the source.
  mutating func begin(_ flight: Flight, now: Duration) -> Errand {
    guard self.flight == flight else { return .end }
    if flight.version != version {
      // The store's token was read only now; nobody has refused it yet.
      let current = Flight(id: flight.id, version: version, generation: flight.generation)
      self.flight = nil
      if let lease = usable(now: now) { return .use(lease) }
      self.flight = current
    }
    starts.append(now)
    return token.map { .refresh($0) } ?? .fetch
  }

  /// Whether a token that a flight got may still be stored and used.
  func accepts(_ flight: Flight) -> Bool { isUnderWay(flight.id) }

  /// Whether a flight has neither landed nor become useless.
  func isUnderWay(_ id: Int) -> Bool { flight?.id == id || late.contains { $0.id == id } }

  /// Takes the token that a flight got.
  mutating func land(_ flight: Flight, with new: AccessToken, now: Duration) -> Landing {
    guard accepts(flight) else { return .ignore }
    let isWaitedFor = self.flight?.id == flight.id
    if isWaitedFor { self.flight = nil }
    late = []
    set(new, now: now, remaining: new.lifetime, trustsClock: false)
    guard isWaitedFor, let lease else { return .ignore }
    return .use(lease.fresh)
  }

  /// Whether the session ends if the server refuses a flight for good: it has the token that the flight was to replace.
  ///
  /// A late flight's refusal decides nothing while a newer flight is under way: that may have got the token's successor.
  func isSignedOut(ifRefused flight: Flight) -> Bool {
    guard lease != nil else { return false }
    if let current = self.flight, current.id == flight.id { return current.version == version }
    return self.flight == nil && late.contains { $0.id == flight.id && $0.version == version }
  }

  /// Ends a flight that failed; terminally if the server said, verifiably, that there will be no token.
  mutating func land(_ flight: Flight, failing error: any Error, isTerminal: Bool) -> Landing {
    if isTerminal, isSignedOut(ifRefused: flight) {
      signOut()
      return .signOut(error)
    }
    late = late.filter { $0.id != flight.id }
    guard let current = self.flight, current.id == flight.id else { return .ignore }
    self.flight = nil
    if current.version != version, let lease { return .use(lease) }
    failureCount += 1
    failure = Failure(version: version, number: failureCount, error: error)
    return .fail(error)
  }

  /// Ends the wait for a flight that takes too long; its token is still taken if no other has come by then.
  mutating func giveUp(on flight: Flight) -> Landing {
    guard let current = self.flight, current.id == flight.id else { return .ignore }
    let landing = land(flight, failing: NetworkError.tokenTimedOut(after: policy.timeout), isTerminal: false)
    if current.version == version { late.insert(current) }
    return landing
  }

  /// Whether a token is the session's newest.
  func isCurrent(_ lease: TokenLease) -> Bool {
    lease.generation == generation && lease.version == version && self.lease != nil
  }
}
