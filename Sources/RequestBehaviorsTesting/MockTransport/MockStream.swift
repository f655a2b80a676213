public import Foundation
public import RequestBehaviors

/// A step of a streamed response of a ``MockTransport``: bytes, a wait, or a failure.
///
/// ```swift
/// mock.on(.get, "events").stream(
///   "data: 1\n\n", .wait(.seconds(30)), .fail(.connectionLost))
/// ```
public struct MockStreamStep: Sendable, ExpressibleByStringLiteral {
  enum Kind: Sendable {
    case chunk(Data)
    case wait(Duration)
    case failure(any Error)
  }

  let kind: Kind

  /// Creates a chunk of a text in UTF-8.
  public init(stringLiteral text: String) { kind = .chunk(Data(text.utf8)) }

  private init(_ kind: Kind) { self.kind = kind }

  /// A chunk of bytes.
  public static func chunk(_ data: Data) -> MockStreamStep { MockStreamStep(.chunk(data)) }

  /// A chunk of a text in UTF-8.
  public static func text(_ text: String) -> MockStreamStep { chunk(Data(text.utf8)) }

  /// A time on the call's clock without a byte; with a ``ManualClock`` the test decides when the stream continues.
  ///
  /// If the request's `idleTimeout` is not longer than this time and the waits just before it, the stream ends with the
  /// code `timedOut` after the `idleTimeout`. A `timeout` that is over ends the stream too.
  public static func wait(_ duration: Duration) -> MockStreamStep { MockStreamStep(.wait(duration)) }

  /// A failure with a code; it ends the stream.
  public static func fail(_ code: NetworkError.Code) -> MockStreamStep {
    fail(NetworkError(code, "the mock transport's stream fails with this code"))
  }

  /// A failure; it ends the stream.
  public static func fail(_ error: any Error) -> MockStreamStep { MockStreamStep(.failure(error)) }
}

/// The body of a streamed response.
final class MockStream: Sendable {
  private struct State {
    var next = 0
    /// How long the waits since the last chunk were.
    var silence: Duration = .zero

    mutating func takeStep(of steps: [MockStreamStep]) -> MockStreamStep? {
      guard next < steps.count else { return nil }
      defer { next += 1 }
      return steps[next]
    }
  }

  private let steps: [MockStreamStep]
  private let trailers: HeaderFields?
  private let request: NetworkRequest
  private let clock: RequestClock
  private let idleTimeout: Duration?
  private let deadline: Duration?
  private let paced: PacedBody
  private let state = Locked(State())

  /// Creates the body of a response to a request.
  init(
    _ steps: [MockStreamStep], status: Int, trailers: HeaderFields?, to request: NetworkRequest, sentAt start: Duration
  ) {
    self.steps = steps
    self.trailers = trailers
    self.request = request
    clock = request.call.clock
    paced = PacedBody(clock)
    idleTimeout = request.idleTimeout
    deadline = request.bodyDeadline(status: status, sentAt: start)
  }

  /// Returns a stream of chunks, with an error at its end if one is given.
  static func make(_ chunks: [Data], failingWith error: (any Error)?) -> ByteStream {
    let steps = chunks.map { MockStreamStep.chunk($0) } + (error.map { [.fail($0)] } ?? [])
    let request = NetworkRequest(url: URL(filePath: "/"))
    return MockStream(steps, status: 200, trailers: nil, to: request, sentAt: .zero).byteStream
  }

  /// The body as a stream.
  var byteStream: ByteStream {
    paced.stream(trailers: trailers) { try await self.nextChunk() }
  }

  private func nextChunk() async throws -> Data? {
    while let step = state.withLock({ $0.takeStep(of: steps) }) {
      try Task.checkCancellation()
      switch step.kind {
      case .chunk(let data):
        state.withLock { $0.silence = .zero }
        return data
      case .failure(let error): throw error
      case .wait(let duration): try await wait(duration)
      }
    }
    return nil
  }

  /// Waits until the time or one of the request's timeouts is over, or the stream is cancelled.
  private func wait(_ duration: Duration) async throws {
    let silence = state.withLock { state in
      defer { state.silence = state.silence.boundedSum(with: duration) }
      return state.silence
    }
    let left = (idle: idleTimeout.map { $0 - silence }, total: deadline.map { max(.zero, $0 - clock.now()) })
    let limit = [left.idle, left.total].compactMap(\.self).min()
    let time = min(duration, limit ?? duration)
    try await paced.wait(for: time)
    if let limit, limit <= duration {
      // The request's own limit, of which a part is over.
      let whole = (limit == left.idle ? idleTimeout : request.timeout) ?? limit
      var error = NetworkError(.timedOut, "the mock's stream waits longer than \(whole)", request: request)
      error.progress = NetworkError.Progress(.headReceived)
      throw error
    }
  }
}

extension NetworkRequest {
  /// When its `timeout` ends the body of a response; `nil` if the body may take as long as it likes.
  ///
  /// As over a real transport, the time limit still covers the body of an error.
  func bodyDeadline(status: Int, sentAt start: Duration) -> Duration? {
    let endsAtHead = options.delivery == .streamed && options.timesEndAtHead
    return endsAtHead && call.acceptableStatuses.contains(status) ? nil : timeout.map { start + $0 }
  }
}
