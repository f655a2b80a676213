import Foundation

/// What is shared by everything that serves one `send`: its identity, clock, history, and room for behaviors to
/// remember things.
///
/// Every request and response of the call refers to it. So it holds facts only (``Exchange``), never one of them: a call
/// is released with the last value that its `send` returned or threw. What behaviors remember in it follows the same
/// rule.
///
/// Each behavior reaches it as `request.call`. Retries, redirects and replays are sends of one call; a prerequisite
/// request, such as one for a token, is a call of its own whose ``parent`` is this one's ``id-swift.property``.
public final class Call: Sendable {
  /// The identity of a call, unique in the process.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    /// The number of the call, counted from 1.
    public let number: UInt64

    /// The number as text.
    public var description: String { "\(number)" }
  }

  /// The most sends of one call, whatever its behaviors do.
  public static let maximumSends = 20

  /// The identity of the call.
  public let id: ID

  /// The call that needed this one as a prerequisite; `nil` for one that a user made.
  public let parent: ID?

  /// The clock of the client.
  public let clock: RequestClock

  /// When the call began, on ``clock``.
  public let startedAt: Duration

  /// The settings that the call began with: the request's over the configuration's.
  public let options: RequestOptions

  /// The statuses that are a success, read once when the call begins.
  public let acceptableStatuses: StatusCodes

  /// The origin of the configuration's base URL, to which credentials are bound by default; `nil` if there is none.
  public let baseOrigin: Origin?

  let decoder: any BodyDecoder
  /// The fields that the user set on the request; those win over what most behaviors set.
  let userHeaders: HTTPHeaders
  /// What the default hooks tell that they ran; `nil` but in a test's check.
  let hookProbe: HookProbe?
  /// The clock without the end of sleeps when the client is shut down, for sessions, which outlive clients.
  let sessionClock: RequestClock
  /// What ends the call's waits when its client is shut down; `nil` for a call without a client.
  let waits: ClientWaits?

  /// Protects the state, and that of the ``ChainRun``.
  let lock = NSLock()
  // Protected by `lock`, so that its exclusivity need not be checked as well.
  @exclusivity(unchecked) nonisolated(unsafe) private var state = State()

  private struct State {
    var deadline: Duration?
    // Most calls have one scope at most, for which no list is needed.
    var scope: String?
    var furtherScopes: [String] = []
    var history: [Exchange] = []
    var events: [Event] = []
    var storage = CallSlots()
    // Not in the storage: every request with a token notes something of its session, twice.
    var tokenRecords = TokenRecords()
    var withheld: [Withheld] = []
    var secrets = CallSecrets()
    var sendChecks: [@Sendable (NetworkRequest) throws -> Void] = []
  }

  /// Creates a call; clients do so for every send, tests of behaviors and transports for themselves.
  ///
  /// - Parameters:
  ///   - clock: The clock; the system's by default.
  ///   - options: The settings; none is set by default.
  ///   - baseOrigin: The origin that credentials are bound to by default; none by default.
  ///   - decoder: What decodes bodies; a JSON decoder by default.
  ///   - parent: The call that needs this one.
  public convenience init(
    clock: RequestClock = .system, options: RequestOptions = RequestOptions(), baseOrigin: Origin? = nil,
    decoder: any BodyDecoder = RequestConfiguration.jsonDecoder, parent: ID? = nil
  ) {
    self.init(
      clock: clock, options: options, baseOrigin: baseOrigin, decoder: decoder, parent: parent,
      userHeaders: HTTPHeaders())
  }

  init(
    clock: RequestClock, options: RequestOptions, baseOrigin: Origin?, decoder: any BodyDecoder, parent: ID?,
    userHeaders: HTTPHeaders, hookProbe: HookProbe? = nil, waits: ClientWaits? = nil,
    sessionClock: RequestClock? = nil
  ) {
    self.id = CallCounter.next()
    self.parent = parent
    self.clock = clock
    self.startedAt = clock.now()
    self.options = options
    self.acceptableStatuses =
      options.nilWhenNotFound ? options.acceptableStatuses.union([404]) : options.acceptableStatuses
    self.baseOrigin = baseOrigin
    self.decoder = decoder
    self.userHeaders = userHeaders
    self.hookProbe = hookProbe
    self.waits = waits
    self.sessionClock = sessionClock ?? clock
    state.secrets = CallSecrets(user: userHeaders)
  }

  /// When the call must be over, on ``clock``, or `nil` for never.
  ///
  /// Behaviors that wait do not wait past it.
  public var deadline: Duration? {
    get { lock.withLock { state.deadline } }
    set { lock.withLock { state.deadline = newValue } }
  }

  /// Whether the deadline has passed.
  var isLate: Bool { deadline.map { clock.now() >= $0 } ?? false }

  /// Whose answer this is, as the behaviors' ``RequestBehavior/scope(for:)`` told before the chain began.
  public var scopes: [String] {
    lock.withLock { (state.scope.map { [$0] } ?? []) + state.furtherScopes }
  }

  func add(scope: String) {
    lock.withLock {
      if state.scope == nil { state.scope = scope } else { state.furtherScopes.append(scope) }
    }
  }

  /// How many sends the call has made.
  public var sendCount: Int { lock.withLock { state.history.count } }

  /// Every send so far, in order.
  public var history: [Exchange] {
    let (history, secrets) = lock.withLock { (state.history, state.secrets) }
    return history.map { exchange in
      var exchange = exchange
      exchange.secrets = secrets
      return exchange
    }
  }

  /// The decisions that behaviors recorded, in order.
  public var events: [Event] { lock.withLock { state.events } }
}

extension Call {
  /// A decision of a behavior, for logs, such as "redirect to https://h/new".
  public struct Event: Sendable {
    /// When it was taken, on the call's clock.
    public let at: Duration
    /// The name of the behavior.
    public let source: String
    /// What was decided, without secrets.
    public let message: String
  }

  /// Records a decision.
  ///
  /// - Parameters:
  ///   - message: What was decided, without secrets.
  ///   - source: The name of the behavior.
  public func record(_ message: String, from source: String) {
    let event = Event(at: clock.now(), source: source, message: message)
    lock.withLock { state.events.append(event) }
  }
}

/// A kind of thing that behaviors remember for the length of a call, such as "has been replayed".
public protocol CallKey {
  /// The type of what is remembered.
  associatedtype Value: Sendable
  /// What is remembered at first.
  static var defaultValue: Value { get }
}

extension Call {
  /// What is remembered under a key.
  public subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
    get { update(key) { $0 } }
    set { update(key) { $0 = newValue } }
  }

  /// Changes what is remembered under a key, atomically.
  ///
  /// - Parameters:
  ///   - key: The kind of thing.
  ///   - change: Gets the value to change; it must not use the call itself.
  /// - Returns: What the closure returns.
  public func update<Key: CallKey, Result>(_ key: Key.Type, _ change: (inout Key.Value) throws -> Result) rethrows
    -> Result
  {
    try update(ObjectIdentifier(key), initially: Key.defaultValue, change)
  }

  /// Changes what is remembered under an identity, which stands for one type of value.
  func update<Value: Sendable, Result>(
    _ id: ObjectIdentifier, initially value: @autoclosure () -> Value, _ change: (inout Value) throws -> Result
  ) rethrows -> Result {
    try lock.withLock {
      // An identity has one type of value, so the cast can be spared.
      if let slot = state.storage[id] { return try change(&unsafeDowncast(slot, to: CallSlots.Slot<Value>.self).value) }
      let slot = CallSlots.Slot(value())
      state.storage[id] = slot
      return try change(&slot.value)
    }
  }
}

extension Call {
  /// Changes what the call remembers of sessions, atomically.
  func updateTokenRecords<Result>(_ change: (inout TokenRecords) -> Result) -> Result {
    lock.withLock { change(&state.tokenRecords) }
  }
}

// MARK: - Sends

extension Call {
  /// Adds a check that every later send of the call must pass, at the last moment before the transport.
  ///
  /// For what may have changed since a behavior let the request pass, while that waited further in: whether the user
  /// whose token it carries is still signed in, for example.
  ///
  /// - Parameter check: Gets the request as it is to be sent; what it throws fails the send, which is not counted.
  public func addSendCheck(_ check: @escaping @Sendable (NetworkRequest) throws -> Void) {
    lock.withLock { state.sendChecks.append(check) }
  }

  /// Runs the checks that behaviors added.
  func check(_ request: NetworkRequest) throws {
    for check in lock.withLock({ state.sendChecks }) { try check(request) }
  }

  /// Counts a send.
  ///
  /// - Returns: Which send of the call it is, from 1; `nil` if it has made as many as a call may.
  func beginSend(_ request: NetworkRequest) -> Int? {
    let now = clock.now()
    return lock.withLock {
      let number = state.history.count + 1
      guard number <= Call.maximumSends else { return nil }
      state.history.append(
        Exchange(number: number, method: request.method, url: request.url, startedAt: now, outcome: .pending))
      return number
    }
  }

  /// Notes how a send ended.
  func endSend(_ number: Int, _ outcome: Exchange.Outcome) {
    let now = clock.now()
    lock.withLock {
      state.history[number - 1].endedAt = now
      state.history[number - 1].outcome = outcome
    }
  }
}

// MARK: - Withheld credentials

extension Call {
  /// What was kept from an origin that it is not for.
  private struct Withheld: Hashable {
    let what: String
    let origin: Origin
  }

  /// Records, once, that something was kept from an origin that it is not for.
  ///
  /// A 401 or 403 of that origin tells it.
  ///
  /// - Parameters:
  ///   - what: What was not sent, such as the name of a field; without secrets.
  ///   - origin: Where the request goes.
  ///   - source: The name of the behavior.
  public func record(withheld what: String, from origin: Origin, by source: String) {
    let withheld = Withheld(what: what, origin: origin)
    let event = Event(at: clock.now(), source: source, message: "\(what) kept from \(origin)")
    lock.withLock {
      guard !state.withheld.contains(withheld) else { return }
      state.withheld.append(withheld)
      state.events.append(event)
    }
  }

  /// What to tell with a refusal that may come from something missing.
  func noteOnWithheld(from origin: Origin?) -> String? {
    let notes = lock.withLock { state.withheld.filter { $0.origin == origin } }
    guard let origin, !notes.isEmpty else { return nil }
    let names = notes.map(\.what).joined(separator: ", ")
    return "; credentials are bound to other origins: \(names) kept from \(origin); "
      + "list the origin in the origins of the behavior, or mark the field for it, if it may have them"
  }
}

// MARK: - Secrets

extension Call {
  /// Notes a value that no description of this call may show, such as a key that a behavior puts into the path.
  ///
  /// The values of header fields that are marked sensitive or mean a credential need not be noted.
  ///
  /// - Parameter secret: The value; one of less than four bytes is not looked for.
  public func addSecret(_ secret: String) { lock.withLock { state.secrets.add(secret) } }

  /// Notes the secrets in the fields of a request as it was on its way.
  func noteSecrets(in headers: HTTPHeaders) {
    lock.withLock { state.secrets.add(headers) }
  }

  /// What the call knows to be secret.
  var secrets: CallSecrets { lock.withLock { state.secrets } }
}

private enum CallCounter {
  private static let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private static var last: UInt64 = 0

  static func next() -> Call.ID {
    lock.withLock {
      last += 1
      return Call.ID(number: last)
    }
  }
}
