/// The shared state of all that serves one `send`: its identity, clock and attempts, and values of behaviors.
///
/// Every request and response of the call refers to it. It stores facts only (``Attempt``) and none of these, so that a
/// call is released with the last value that its `send` returned or threw. The values that behaviors store in it follow
/// the same rule.
///
/// Each behavior reaches it as `request.call`. Retries, redirects and replays are sends of one call. A prerequisite
/// request, such as one for a token, is a separate call whose ``parent`` is this one's ``id-swift.property``.
public final class Call: Sendable {
  /// The identity of a call, unique in the process.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    /// The number of the call, counted from 1.
    public let number: UInt64

    /// The number as text.
    public var description: String { "\(number)" }
  }

  /// The most sends of one call, whatever its behaviors do.
  public static let maximumAttempts = 20

  /// The identity of the call.
  public let id: ID

  /// The call that this one was made for, as ``purpose`` says; `nil` for one that a user made.
  public let parent: ID?

  /// The reason why the call was made; ``parent`` is the call that it was made for.
  public let purpose: Purpose
  /// The call of a user that a shared call began with.
  let root: ID?

  /// The facts that all calls of the client share.
  let context: ClientContext

  /// The time at which the call began, on ``clock``.
  public let startedAt: Duration

  /// The settings that the call began with: the request's over the configuration's.
  public let options: RequestOptions

  /// The statuses that are a success, read once when the call begins.
  public let acceptableStatuses: StatusCodes

  /// The fields that the user set on the request; they win over the fields of most behaviors.
  let userHeaders: HeaderFields
  /// The state, under its lock.
  private let state: Locked<State>

  /// The part of a call that changes.
  struct State: Sendable {
    var deadline: Duration?
    /// Returns the latest deadline of the callers of a shared call; `nil` for other calls.
    var deadlineOfCallers: (@Sendable () -> Duration?)?
    var owner = CallOwner()
    var coverage = CredentialCoverage()
    // Most calls make one send.
    var attempts = ShortList<Attempt>()
    var events: [Event] = []
    /// The attempts of a call that this one waited for.
    var adoptedAttempts: [Attempt] = []
    /// The decisions of a call that this one waited for.
    var adoptedEvents: [Event] = []
    /// The observers of events; empty after the end of the `send`, because an observer may refer to the call.
    var observers: [any CallObserver] = []
    var memory: Memory
    var withheld: Set<Withheld> = []
    var secrets: CallSecrets
    var sendChecks = ShortList<SendCheck>()
    /// The updates for requests that have passed the limiters.
    var renewals = ShortList<Renewal>()
    /// The sessions that wait at their end for requests that are being handed to the transport.
    var handOvers = ShortList<HandOvers>()

    /// The sends that served the call: its own, or else those of a call that it joined.
    var servingAttempts: [Attempt] { attempts.isEmpty ? adoptedAttempts : Array(attempts) }
  }

  /// A check of the request at the last moment before it is sent.
  struct SendCheck: Sendable {
    /// The identity of the session whose check it is; `nil` for any other check.
    let session: ObjectIdentifier?
    // In a struct, because a list of closures would wrap each in another one.
    let run: @Sendable (NetworkRequest) throws -> Void
  }

  /// An update of the request after it may have waited.
  struct Renewal: Sendable {
    let run: @Sendable (inout NetworkRequest) -> Void
  }

  /// Creates a call with the system's clock and without settings, as a request does that no client made.
  public convenience init() { self.init(.withoutClient, options: RequestOptions(), parent: nil) }

  /// Creates a call; clients do so for every send, tests of behaviors and transports for themselves.
  ///
  /// - Parameters:
  ///   - clock: The clock; the system's by default.
  ///   - options: The settings; none is set by default.
  ///   - baseOrigin: The origin that credentials are bound to by default; none by default.
  ///   - decoder: The decoder of bodies; a JSON decoder by default.
  ///   - parent: The call that needs this one.
  public convenience init(
    clock: RequestClock = .system, options: RequestOptions = RequestOptions(), baseOrigin: Origin? = nil,
    decoder: any BodyDecoder = RequestConfiguration.jsonDecoder, parent: ID? = nil
  ) {
    let context = ClientContext(
      clock: clock, sessionClock: clock, baseOrigin: baseOrigin, decoder: decoder, lifetime: nil)
    self.init(context, options: options, parent: parent)
  }

  init(
    _ context: ClientContext, options: RequestOptions, parent: ID?, userHeaders: HeaderFields = HeaderFields(),
    memory: Memory = Memory(), purpose: Purpose? = nil, root: ID? = nil
  ) {
    self.id = CallCounter.next()
    self.parent = parent
    self.purpose = purpose ?? (parent == nil ? .request : .prerequisite)
    self.root = root
    self.context = context
    self.startedAt = context.clock.now()
    self.options = options
    self.acceptableStatuses =
      options.nilWhenNotFound ? options.acceptableStatuses.union([404]) : options.acceptableStatuses
    self.userHeaders = userHeaders
    self.state = Locked(State(memory: memory, secrets: CallSecrets(user: userHeaders)))
  }

  /// Reads or changes the state, atomically.
  func withState<Result>(_ change: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock(change)
  }
}

extension Call {
  /// The clock of the client.
  public var clock: RequestClock { context.clock }

  /// The clock whose sleeps go on when the client is shut down, for state that outlives clients, such as a session's.
  public var sessionClock: RequestClock { context.sessionClock }

  /// The origin of the configuration's base URL, to which credentials are bound by default; `nil` without a base URL.
  public var baseOrigin: Origin? { context.baseOrigin }

  /// The decoder of bodies.
  var decoder: any BodyDecoder { context.decoder }

  /// The lifetime of the client, which ends the call's waits; `nil` for a call without a client.
  var lifetime: ClientLifetime? { context.lifetime }
}

private enum CallCounter {
  private static let last = Locked<UInt64>(0)

  static func next() -> Call.ID {
    last.withLock { last in
      last += 1
      return Call.ID(number: last)
    }
  }
}
