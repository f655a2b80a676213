/// One call of a ``Recording``: its sends, the decisions of behaviors, and its outcome.
///
/// Times count from ``Recording/startedAt``.
public struct RecordedCall: Sendable, Hashable {
  /// How a call ended.
  public enum Outcome: Sendable, Hashable {
    /// It is still under way.
    case underWay
    /// The caller got a response with this status.
    case response(statusCode: Int)
    /// It failed; `code` is that of a ``NetworkError``, `nil` for another error.
    case failure(code: String?, message: String)
    /// It was cancelled.
    case cancelled
  }

  /// The number of the call in its process (``Call/ID/number``).
  public var number: UInt64
  /// The number of the call that this one was made for; `nil` for one that a user made.
  public var parent: UInt64?
  /// The reason why it was made.
  public var purpose: Call.Purpose
  /// The method.
  public var method: String
  /// The URL, as the redactor shows it.
  public var url: String
  /// The template of the path, such as `users/{}`.
  public var endpoint: String
  /// The time at which it began.
  public var startedAt: Duration
  /// The time at which it ended, with a streamed body the end of the body; `nil` while it is under way.
  public var endedAt: Duration?
  /// How it ended.
  public var outcome: Outcome
  /// The source of the response; `nil` without a response.
  public var source: ResponseSource?
  /// Its sends, in order; those of a shared flight are with the call that began it.
  public var sends: [RecordedSend]
  /// The decisions of behaviors, in order.
  public var decisions: [RecordedDecision]

  /// Creates a call.
  public init(
    number: UInt64, parent: UInt64? = nil, purpose: Call.Purpose = .request, method: String, url: String,
    endpoint: String = "", startedAt: Duration, endedAt: Duration? = nil, outcome: Outcome = .underWay,
    source: ResponseSource? = nil, sends: [RecordedSend] = [], decisions: [RecordedDecision] = []
  ) {
    self.number = number
    self.parent = parent
    self.purpose = purpose
    self.method = method
    self.url = url
    self.endpoint = endpoint
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.source = source
    self.sends = sends
    self.decisions = decisions
  }
}

/// One send of a ``RecordedCall``.
public struct RecordedSend: Sendable, Hashable {
  /// How a send ended.
  public enum Outcome: Sendable, Hashable {
    /// It is still under way.
    case underWay
    /// A response arrived; `bytes` is the length of its body, `nil` while it is read and for a file.
    case response(statusCode: Int, bytes: Int?)
    /// It failed; `code` is that of a ``NetworkError``, `nil` for another error.
    case failure(code: String?, message: String)
    /// It was cancelled.
    case cancelled
  }

  /// A piece of a streamed body.
  public struct Chunk: Sendable, Hashable {
    /// The time at which the reader got it.
    public var at: Duration
    /// Its length.
    public var bytes: Int

    /// Creates a chunk.
    public init(at: Duration, bytes: Int) {
      self.at = at
      self.bytes = bytes
    }
  }

  /// The number of the send in its call, from 1.
  public var number: Int
  /// The method.
  public var method: String
  /// The URL, as the redactor shows it.
  public var url: String
  /// The time at which the transport received the request.
  public var startedAt: Duration
  /// The time at which it ended; `nil` while it is under way.
  public var endedAt: Duration?
  /// How it ended.
  public var outcome: Outcome
  /// The times of its phases, which count from ``Recording/startedAt`` too; `nil` without a response.
  public var timings: ResponseTimings?
  /// The fields of the request, as the redactor shows them.
  public var requestHeaders: HeaderFields
  /// The fields of the response, as the redactor shows them.
  public var responseHeaders: HeaderFields
  /// The length of the request's body; `nil` without a body, and if it is unknown.
  public var requestBytes: Int64?
  /// The beginning of the request's body, as the redactor shows it; `nil` if bodies are not recorded.
  public var requestBody: String?
  /// The beginning of the response's body, as the redactor shows it; `nil` if bodies are not recorded.
  public var responseBody: String?
  /// The pieces of a streamed body, at most 1,000; the last of so many holds all that follow.
  public var chunks: [Chunk]

  /// Creates a send.
  public init(
    number: Int, method: String, url: String, startedAt: Duration, endedAt: Duration? = nil,
    outcome: Outcome = .underWay, timings: ResponseTimings? = nil, requestHeaders: HeaderFields = HeaderFields(),
    responseHeaders: HeaderFields = HeaderFields(), requestBytes: Int64? = nil, requestBody: String? = nil,
    responseBody: String? = nil, chunks: [Chunk] = []
  ) {
    self.number = number
    self.method = method
    self.url = url
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.timings = timings
    self.requestHeaders = requestHeaders
    self.responseHeaders = responseHeaders
    self.requestBytes = requestBytes
    self.requestBody = requestBody
    self.responseBody = responseBody
    self.chunks = chunks
  }
}

/// A decision of a behavior in a ``RecordedCall``; see ``Call/Event``.
public struct RecordedDecision: Sendable, Hashable {
  /// The time of the decision.
  public var at: Duration
  /// The length of the wait that it began; `nil` for a decision that began no wait.
  public var duration: Duration?
  /// The name of the behavior.
  public var source: String
  /// The decision.
  public var message: String
  /// The kind of decision.
  public var kind: Call.Event.Kind

  /// Creates a decision.
  public init(at: Duration, duration: Duration? = nil, source: String, message: String, kind: Call.Event.Kind) {
    self.at = at
    self.duration = duration
    self.source = source
    self.message = message
    self.kind = kind
  }
}
