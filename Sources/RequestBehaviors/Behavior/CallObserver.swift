/// A behavior that is told when every call that it is listed for starts and ends, and each of its attempts.
///
/// The hooks of a ``RequestBehavior`` see neither errors of building the request nor those of decoding the response;
/// ``callEnded(_:)`` sees both, once per call, when the caller's outcome is settled. Loggers and metrics are made of it.
///
/// Each member has a default that does nothing. All are called on the path of the request: they must not block. Nothing
/// that they get is redacted.
public protocol CallObserver: RequestBehavior {
  /// Notes that a call starts, before any hook of a behavior runs.
  ///
  /// A call whose request cannot be built does not start; it only ends.
  ///
  /// - Parameter request: The request as it enters the list of behaviors.
  func callStarted(_ request: NetworkRequest)

  /// Notes that the transport gets a request: the first one of a call, a redirect, a retry, a replay.
  ///
  /// - Parameter request: The request as it is sent; its `attemptNumber` tells which attempt of the call it is.
  func attemptStarted(_ request: NetworkRequest)

  /// Notes that the head of a streamed response is there, whose body is read from now on.
  ///
  /// - Parameters:
  ///   - attempt: The attempt, with the status; it has not ended.
  ///   - request: The request as it was sent.
  func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest)

  /// Notes how an attempt ended; with a streamed body, how that ended.
  ///
  /// - Parameters:
  ///   - attempt: How it ended, and when.
  ///   - request: The request as it was sent.
  func attemptEnded(_ attempt: Attempt, of request: NetworkRequest)

  /// Notes that a behavior recorded a decision, such as that a gate holds the request, at once.
  ///
  /// After the `send` nothing more is told; ``Call/events`` has all of them.
  ///
  /// - Parameters:
  ///   - event: The decision.
  ///   - call: The call that it is about.
  func eventRecorded(_ event: Call.Event, of call: Call)

  /// Notes how a call ended; with a streamed body, how that ended.
  ///
  /// - Parameter report: The call, its outcome, and how long it took.
  func callEnded(_ report: CallReport)
}

extension CallObserver {
  /// By default nothing is done.
  public func callStarted(_ request: NetworkRequest) {}

  /// By default nothing is done.
  public func attemptStarted(_ request: NetworkRequest) {}

  /// By default nothing is done.
  public func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest) {}

  /// By default nothing is done.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) {}

  /// By default nothing is done.
  public func eventRecorded(_ event: Call.Event, of call: Call) {}

  /// By default nothing is done.
  public func callEnded(_ report: CallReport) {}
}

/// Calls a closure at the end of every call, whatever ended it, after the caller's outcome is settled.
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
  /// Among what observes.
  public let order = BehaviorOrder.observation
  private let note: @Sendable (CallReport) -> Void

  /// Creates the behavior.
  ///
  /// - Parameter note: Gets the report; it is called on the path of the request and must not block.
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
