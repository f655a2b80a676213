/// The end of a call, for a ``CallObserver``.
public struct CallReport: Sendable {
  /// The stage that a call had reached when it ended.
  public enum Phase: Sendable, Hashable {
    /// The request was being built: no behavior saw it.
    case building
    /// The behaviors and the transport had it.
    case sending
    /// The body of a streamed response was being read.
    case receiving
    /// The response was being decoded.
    case decoding
    /// The caller got a value.
    case finished
  }

  /// The call.
  public let call: Call
  /// The request as it entered the list of behaviors; `nil` if it could not be built.
  public let request: NetworkRequest?
  /// The response, if there was one; that of a streamed response is without its body.
  public let response: NetworkResponse?
  /// The end of a streamed response's body; `nil` for any other response.
  public let completion: BodyCompletion?
  /// The error that the caller's `send` threw or that ended a streamed body; `nil` if neither failed.
  ///
  /// It is the original one, even if the caller got the replacement of an ``ErrorMapper``.
  public let error: (any Error)?
  /// The stage that the call had reached when it ended.
  public let phase: Phase
  /// The time that decoding took.
  public let decoding: Duration
  /// The time that the call took in all, until the end of a streamed body.
  public let duration: Duration
  /// The latest failure before a cancellation, which the caller's `CancellationError` does not tell.
  public let lastFailure: (any Error)?

  init(
    call: Call, request: NetworkRequest?, response: NetworkResponse?, error: (any Error)?, phase: Phase,
    decoding: Duration = .zero, completion: BodyCompletion? = nil, lastFailure: (any Error)? = nil
  ) {
    self.call = call
    self.request = request
    self.response = response
    self.completion = completion
    self.error = error
    self.phase = phase
    self.decoding = decoding
    self.duration = call.clock.now() - call.startedAt
    self.lastFailure = lastFailure
  }
}
