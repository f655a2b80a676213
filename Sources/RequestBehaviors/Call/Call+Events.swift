extension Call {
  /// A decision of a behavior, for logs, such as "redirect to https://h/new".
  public struct Event: Sendable {
    /// The time of the decision, on the call's clock.
    public let at: Duration
    /// The name of the behavior.
    public let source: String
    /// The decision, without secrets.
    public let message: String
    /// The kind of decision, so that code need not read the message.
    public let kind: Kind
    /// How long the wait took that the decision began; `nil` while it lasts, and for a decision that began no wait.
    public internal(set) var duration: Duration?
    /// Whether the decision began a wait that still lasts.
    public internal(set) var isUnderWay = false

    /// Ends the wait that the decision began.
    mutating func endWait(at now: Duration) {
      isUnderWay = false
      duration = now - at
    }
  }

  /// The decisions that behaviors recorded, in order of time.
  ///
  /// Those of a call that this one waited for, such as a shared one, are among them as soon as the wait is over.
  public var events: [Event] {
    let (own, adopted) = withState { ($0.events, $0.adoptedEvents) }
    return adopted.isEmpty ? own : (own + adopted).sorted { $0.at < $1.at }
  }

  /// The decisions of the call itself, in order, without those of a call that it waited for.
  public var ownEvents: [Event] { withState { $0.events } }

  /// Records a decision.
  ///
  /// - Parameters:
  ///   - message: The decision, without secrets.
  ///   - source: The name of the behavior.
  ///   - kind: The kind of decision; ``Event/Kind-swift.struct/other`` by default.
  public func record(_ message: String, from source: String, kind: Event.Kind = .other) {
    add(Event(at: clock.now(), source: source, message: message, kind: kind)) { _ in true }
  }

  /// Adds an event if it is wanted, and tells the observers.
  ///
  /// - Returns: The place of the event.
  @discardableResult
  func add(_ event: Event, if isWanted: (inout State) -> Bool) -> Int {
    let (index, observers) = withState { state -> (Int, [any CallObserver]) in
      guard isWanted(&state) else { return (0, []) }
      state.events.append(event)
      return (state.events.count - 1, state.observers)
    }
    for observer in observers { observer.eventRecorded(event, of: self) }
    return index
  }
}

// MARK: - Withheld credentials

extension Call {
  /// A credential that was kept from an origin that it is not for.
  struct Withheld: Hashable {
    let what: String
    let origin: Origin
  }

  /// Records, once, that a credential was kept from an origin that it is not for.
  ///
  /// The error of a 401 or 403 of that origin says so.
  ///
  /// - Parameters:
  ///   - what: The name of the credential that was not sent, such as that of a field; without secrets.
  ///   - origin: The origin that the request goes to.
  ///   - source: The name of the behavior.
  public func record(withheld what: String, from origin: Origin, by source: String) {
    let message = "\(what) kept from \(origin)"
    add(Event(at: clock.now(), source: source, message: message, kind: .withheld)) { state in
      state.withheld.insert(Withheld(what: what, origin: origin)).inserted
    }
  }

  /// Returns the words of a refusal's error about credentials withheld from the origin; `nil` if no credential was.
  func noteOnWithheld(from origin: Origin?) -> String? {
    let names = withState { $0.withheld.filter { $0.origin == origin } }.map(\.what).sorted()
    guard let origin, !names.isEmpty else { return nil }
    return "; credentials are bound to other origins: \(names.joined(separator: ", ")) kept from \(origin); "
      + "list the origin in the origins of the behavior, or mark the field for it, if it may have them"
  }
}

extension Call.Event {
  /// The kind of a decision.
  ///
  /// ```swift
  /// let retries = response.request.call.events
  ///   .filter { $0.kind == .retry }
  /// ```
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// Creates a kind; behaviors of users may add their own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the kind.
    public var description: String { rawValue }

    /// A decision of no particular kind.
    public static let other = Kind(rawValue: "other")
    /// A redirect was followed.
    public static let redirect = Kind(rawValue: "redirect")
    /// A credential was kept from an origin that it is not for.
    public static let withheld = Kind(rawValue: "withheld")
    /// A request is sent again.
    public static let retry = Kind(rawValue: "retry")
    /// A request that failed is not sent again, or not any more.
    public static let retryStopped = Kind(rawValue: "retryStopped")
    /// The call's deadline was set, or ended a wait or a send.
    public static let deadline = Kind(rawValue: "deadline")
    /// A circuit breaker let a probe through, refused a request or changed its state.
    public static let circuitBreaker = Kind(rawValue: "circuitBreaker")
    /// A rate limit or concurrency limit made a request wait, or refused it.
    public static let limit = Kind(rawValue: "limit")
    /// A request was sent a second time while the first one was under way.
    public static let hedge = Kind(rawValue: "hedge")
    /// A request joined another one, or was merged with others.
    public static let coalescing = Kind(rawValue: "coalescing")
    /// A gate held, released or refused a request, or the device was offline.
    public static let gate = Kind(rawValue: "gate")
    /// A cache was asked, or stored or removed a response.
    public static let caching = Kind(rawValue: "caching")
    /// A request waited for a credential, or was sent without one or with a newer one.
    public static let authentication = Kind(rawValue: "authentication")
    /// A response was checked for its origin.
    public static let verification = Kind(rawValue: "verification")
    /// The content of a response was saved, or was not.
    public static let persistence = Kind(rawValue: "persistence")
  }
}
