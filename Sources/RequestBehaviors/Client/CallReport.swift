/// How a call ended, for a ``CallObserver``.
public struct CallReport: Sendable {
  /// Where a call was when it ended.
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
  /// How the body of a streamed response ended; `nil` for any other.
  public let completion: BodyCompletion?
  /// What the caller's `send` threw, or what a streamed body ended with; `nil` if neither did.
  public let error: (any Error)?
  /// Where the call was when it ended.
  public let phase: Phase
  /// How long decoding took.
  public let decoding: Duration
  /// How long the call took in all, until a streamed body had ended.
  public let duration: Duration
  /// The latest failure before a cancellation, which the `CancellationError` that the caller gets does not tell.
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
