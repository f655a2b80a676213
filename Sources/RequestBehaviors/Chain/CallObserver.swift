/// A behavior that observes the start and the end of every call that it is listed for, and of each attempt.
///
/// The hooks of a ``RequestBehavior`` see neither errors of building the request nor those of decoding the response.
/// ``callEnded(_:)`` sees both, once per call, when the caller's outcome is settled. Loggers and metrics use this
/// protocol.
///
/// Each member has a default that does nothing. All are called on the path of the request and must not block. Their
/// arguments are not redacted.
public protocol CallObserver: RequestBehavior {
  /// Whether the behavior observes attempts, besides calls and decisions; true by default.
  ///
  /// If false, ``attemptStarted(_:)``, ``attemptReceivedHead(_:of:)`` and ``attemptEnded(_:of:)`` are not called, and a
  /// request costs less. The client reads it once, when it makes its list of behaviors.
  var observesAttempts: Bool { get }

  /// Observes the start of a call, before any hook of a behavior runs.
  ///
  /// A call whose request cannot be built does not start; it only ends.
  ///
  /// - Parameter request: The request as it enters the list of behaviors.
  func callStarted(_ request: NetworkRequest)

  /// Observes that the transport receives a request: the first one of a call, a redirect, a retry, a replay.
  ///
  /// - Parameter request: The request as it is sent; its `attemptNumber` is the number of the attempt within the call.
  func attemptStarted(_ request: NetworkRequest)

  /// Observes the head of a streamed response; its body is read afterwards.
  ///
  /// - Parameters:
  ///   - attempt: The attempt, with the status; it has not ended.
  ///   - request: The request as it was sent.
  func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest)

  /// Observes the end of an attempt; with a streamed body, the end of the body.
  ///
  /// - Parameters:
  ///   - attempt: The attempt, with its outcome and its end.
  ///   - request: The request as it was sent.
  func attemptEnded(_ attempt: Attempt, of request: NetworkRequest)

  /// Observes, without delay, that a behavior recorded a decision, such as that a gate holds the request.
  ///
  /// It is not called after the end of the `send`; ``Call/events`` has all decisions.
  ///
  /// - Parameters:
  ///   - event: The decision.
  ///   - call: The call that the decision is about.
  func eventRecorded(_ event: Call.Event, of call: Call)

  /// Observes the end of a call; with a streamed body, the end of the body.
  ///
  /// - Parameter report: The call, its outcome, and its duration.
  func callEnded(_ report: CallReport)
}

extension CallObserver {
  /// True by default.
  public var observesAttempts: Bool { true }

  /// Does nothing by default.
  public func callStarted(_ request: NetworkRequest) {}

  /// Does nothing by default.
  public func attemptStarted(_ request: NetworkRequest) {}

  /// Does nothing by default.
  public func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest) {}

  /// Does nothing by default.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) {}

  /// Does nothing by default.
  public func eventRecorded(_ event: Call.Event, of call: Call) {}

  /// Does nothing by default.
  public func callEnded(_ report: CallReport) {}
}

/// Calls a closure at the end of every call, for every outcome, after the caller's outcome is settled.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [
///     .onCallEnd { report in
///       if let error = report.error { failures.append(error) }
///     }
///   ])
/// ```
public struct CallEndBehavior: CallObserver {
  /// The place of observers.
  public let order = BehaviorOrder.observation
  /// `false`: only the end of a call counts.
  public let observesAttempts = false
  private let note: @Sendable (CallReport) -> Void

  /// Creates the behavior.
  ///
  /// - Parameter note: Receives the report. It is called on the path of the request and must not block.
  public init(_ note: @escaping @Sendable (CallReport) -> Void) { self.note = note }

  /// Calls the closure.
  public func callEnded(_ report: CallReport) { note(report) }
}

extension RequestBehavior where Self == CallEndBehavior {
  /// Calls a closure at the end of every call; see ``CallEndBehavior``.
  public static func onCallEnd(_ note: @escaping @Sendable (CallReport) -> Void) -> CallEndBehavior {
    CallEndBehavior(note)
  }
}
