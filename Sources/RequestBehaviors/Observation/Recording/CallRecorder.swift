import Foundation

/// The bounds of a ``CallRecorder``: beyond them the oldest calls are dropped whole.
public struct RecordingLimits: Sendable, Hashable {
  /// The largest number of calls; 500 by default.
  public var calls: Int
  /// The largest size in bytes, as estimated from what is kept; 4 MiB by default.
  public var bytes: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - calls: The largest number of calls, at least 1.
  ///   - bytes: The largest size in bytes. The latest call is kept whatever its size.
  public init(calls: Int = 500, bytes: Int = 4 * 1_024 * 1_024) {
    self.calls = max(1, calls)
    self.bytes = bytes
  }
}

/// Whether a ``CallRecorder`` keeps bodies.
public struct RecordedBodies: Sendable, Hashable {
  let limit: Int

  /// No body is kept.
  public static let none = RecordedBodies(limit: 0)

  /// Keeps the beginning of text bodies that are in memory or are read as a stream.
  ///
  /// - Parameter bytes: The largest number of bytes of one body.
  /// - Returns: The choice.
  public static func upTo(_ bytes: Int) -> RecordedBodies { RecordedBodies(limit: max(0, bytes)) }
}

/// Keeps what a client did lately, for a look at it or for a bug report.
///
/// ```swift
/// let recorder = CallRecorder()
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.recording(recorder), .retry()])
/// try recorder.recording.waterfall().write(to: page)
/// try recorder.recording.har().write(to: harFile)
/// ```
///
/// It keeps facts and header fields within its ``RecordingLimits``, and no request, response or body unless it is asked
/// for bodies. Secrets are hidden when ``recording`` is read: by the rules of the redactor, and every value that one of
/// the calls knows to be secret wherever it appears.
///
/// A recorder may be shared by several clients. Their calls have one time line if their clocks agree.
public final class CallRecorder: Sendable {
  /// The bounds of what is kept.
  public let limits: RecordingLimits
  /// Whether bodies are kept.
  public let bodies: RecordedBodies
  let redactor: Redactor
  let state = Locked(StoredCalls())

  /// Creates an empty recorder.
  ///
  /// - Parameters:
  ///   - limits: The bounds of what is kept; 500 calls and 4 MiB by default.
  ///   - bodies: Whether bodies are kept; by default they are not.
  ///   - redactor: Decides what may be shown.
  public init(
    limits: RecordingLimits = RecordingLimits(), bodies: RecordedBodies = .none, redactor: Redactor = .standard
  ) {
    self.limits = limits
    self.bodies = bodies
    self.redactor = redactor
  }

  /// The calls so far; those that are under way are marked so.
  ///
  /// It takes a few milliseconds for hundreds of calls, because secrets are searched for in all of them.
  public var recording: Recording {
    let stored = state.withLock { $0 }
    return RecordingExport(stored, redactor: redactor, bodyLimit: bodies.limit).recording()
  }

  /// Forgets all calls; what those under way do from then on is not kept.
  public func clear() { state.withLock { $0 = StoredCalls() } }
}

/// Tells a ``CallRecorder`` what the client does; see there for what is kept.
///
/// It sees cache hits, refusals and shared flights, which make no send, and each send with the fields that the
/// transport received. Fields that the transport adds, such as the `User-Agent` of URLSession, are seen by no behavior.
public struct RecordingBehavior: CallObserver, UniqueBehavior {
  /// Next to the transport.
  public let order = BehaviorOrder.last
  /// `true`, because a request for a token is part of what the client did.
  public let runsForPrerequisites = true
  /// The name that tells several recorders in one list apart.
  public let name: String
  private let recorder: CallRecorder

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
    guard case .stream(let stream) = response.body else {
      recorder.note(response, at: place)
      return response
    }
    recorder.note(response, at: place)
    let clock = request.call.clock
    response.body = .stream(
      stream.wrapped { base in
        ObservedChunks(base: base) { [recorder] chunk in recorder.note(chunk, at: clock.now(), of: place) }
      })
    return response
  }

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

/// The chunks of a stream, each of which is reported before it is delivered.
private struct ObservedChunks: AsyncSequence, Sendable {
  typealias Element = Data
  let base: ByteStream
  let note: @Sendable (Data) -> Void

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let note: @Sendable (Data) -> Void

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else { return nil }
      note(chunk)
      return chunk
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), note: note) }
}

extension RequestBehavior where Self == RecordingBehavior {
  /// Keeps what the client does; see ``RecordingBehavior``.
  public static func recording(_ recorder: CallRecorder) -> RecordingBehavior { RecordingBehavior(recorder) }
}
