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
    /// Something was kept from an origin that it is not for.
    public static let withheld = Kind(rawValue: "withheld")
    /// A request is sent again.
    public static let retry = Kind(rawValue: "retry")
    /// A request that failed is not sent again, or not any more.
    public static let retryStopped = Kind(rawValue: "retryStopped")
    /// The call's deadline was set, or ended something.
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
  }
}
