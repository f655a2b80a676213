/// Tells a ``CallRecorder`` what the client does; see there for what is kept.
///
/// It sees cache hits, refusals and shared flights, which make no send, and each send with the fields that the
/// transport received. Fields that the transport adds, such as the `User-Agent` of URLSession, are seen by no behavior.
public struct RecordingBehavior: CallObserver, UniqueBehavior, SharedStateBehavior {
  /// Next to the transport.
  public let order = BehaviorOrder.last
  /// `true`, because a request for a token is part of what the client did.
  public let runsForPrerequisites = true
  /// The name that tells several recorders in one list apart.
  public let name: String
  private let recorder: CallRecorder
  /// The recorder, which variants of a client share.
  public var sharedState: AnyObject { recorder }

  /// Creates a behavior.
  ///
  /// - Parameters:
  ///   - recorder: Keeps the calls.
  ///   - name: The name that tells this recorder from others in the list.
  public init(_ recorder: CallRecorder, name: String = "") {
    self.recorder = recorder
    self.name = name
  }

  /// Keeps the fields of the response, and the times at which the reader gets the chunks of a streamed body.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    var response = try await next(request)
    let place = SendPlace(response.request)
    recorder.note(response, at: place)
    guard case .stream(let stream) = response.body else { return response }
    let clock = request.call.clock
    response.body = .stream(
      stream.wrapped { base in
        ObservedChunks(base: base) { [recorder] chunk in recorder.note(chunk, at: clock.now(), of: place) }
      })
    return response
  }

  /// Drops the calls of a user who has signed out.
  public func scopeEnded(_ scope: String) async { recorder.dropCallsOfFormerUsers() }

  /// Drops all calls.
  public func reset() async { recorder.clear() }

  /// Keeps the beginning of a call.
  public func callStarted(_ request: NetworkRequest) { recorder.begin(request) }

  /// Keeps a send.
  public func attemptStarted(_ request: NetworkRequest) { recorder.beginSend(request) }

  /// Keeps the head of a streamed response.
  public func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest) {
    recorder.note(attempt, of: request)
  }

  /// Keeps the end of a send.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) { recorder.note(attempt, of: request) }

  /// Keeps a decision.
  public func eventRecorded(_ event: Call.Event, of call: Call) { recorder.noteDecision(of: call) }

  /// Keeps the end of a call.
  public func callEnded(_ report: CallReport) { recorder.end(report) }
}
