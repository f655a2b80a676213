import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One send over URLSession, from the caller's continuation to the task's last callback.
///
/// The caller's outcome is settled once, from any thread. Later outcomes are ignored.
final class Transfer: @unchecked Sendable {
  // Unchecked because a comment beside each variable names the only place that uses it.

  /// The response that URLSession delivered.
  struct Received: Sendable {
    let response: HTTPURLResponse
    /// The body; `nil` for one that is streamed.
    let body: Data?
    let timings: ResponseTimings
  }

  typealias Continuation = CheckedContinuation<Received, any Error>

  let request: NetworkRequest
  let sent: Duration
  let progress: TransferProgress.Attempt?
  /// The body of a streamed response; `nil` for one in memory.
  let stream: ResponseSpool?

  private struct State {
    var continuation: Continuation?
    var outcome: Result<Received, any Error>?
    var hasHead = false
    /// Watches the body while it is sent.
    var watch: Task<Void, Never>?
  }

  private let state = Locked(State())

  // Used on the registry's queue only.
  var urlRequest: URLRequest
  var task: URLSessionTask?
  var reading: BodyReader?
  // The file is kept for as long as URLSession may read it.
  var spooledBody: TemporaryFile?
  // The number of bytes of the file that are to be sent. It is set before there is a task.
  var announcedLength: Int64?

  // Used in the delegate's callbacks only, which come one after the other.
  private(set) var response: HTTPURLResponse?
  /// A head that may be the response of a proxy to CONNECT.
  var heldHead: HTTPURLResponse?
  var hasSentBody = false
  private var interimStatus: Int?
  private var framing: ResponseFraming?
  private var firstByte: Duration?
  private var receivedCount = 0
  private var body = Data()
  var connection: ConnectionTimings?

  init(_ request: NetworkRequest, _ urlRequest: URLRequest, _ spool: BodySpool) {
    self.request = request
    stream = request.options.delivery == .streamed ? ResponseSpool(spool) : nil
    self.urlRequest = urlRequest
    self.sent = request.call.clock.now()
    self.progress = request.options.progress?.begin(sending: request.body?.length)
  }

  /// Whether the caller's outcome is settled, and the body of a streamed response has ended.
  var isSettled: Bool {
    switch state.withLock({ $0.outcome }) {
    case .success: stream?.isEnded != false
    case .failure: true
    case nil: false
    }
  }

  /// The stage that the transfer has reached.
  ///
  /// It is read on the registry's queue.
  ///
  /// URLSession does not tell when it has a connection, so a request counts as sent once URLSession has it.
  var stage: NetworkError.Progress.Stage {
    if state.withLock({ $0.hasHead }) { return .headReceived }
    return task == nil ? .notSent : .sent
  }

  /// Takes the continuation of the caller.
  ///
  /// If the outcome is settled already, it resumes the continuation and returns false.
  func attach(_ continuation: Continuation) -> Bool {
    let early = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    guard let early else { return true }
    continuation.resume(with: early)
    return false
  }

  /// Keeps a task that watches the body while it is sent.
  func keep(_ watch: Task<Void, Never>) {
    let isLate = state.withLock { state in
      if state.outcome == nil { state.watch = watch }
      return state.outcome != nil
    }
    if isLate { watch.cancel() }
  }

  /// Ends the task that watches the body, because no more of it will be sent.
  func stopWatching() {
    let watch = state.withLock { state in
      defer { state.watch = nil }
      return state.watch
    }
    watch?.cancel()
  }

  /// Settles the outcome and resumes the caller.
  ///
  /// Returns false if it was settled before.
  @discardableResult
  func settle(_ result: Result<Received, any Error>) -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, Continuation?) in
      guard state.outcome == nil else { return (false, nil) }
      state.outcome = result
      defer { state.continuation = nil }
      return (true, state.continuation)
    }
    if isFirst { stopWatching() }
    waiting?.resume(with: result)
    return isFirst
  }

  /// Fails it because the transport was shut down; on the queue.
  func failShutDown() {
    var error = NetworkError.clientShutDown()
    error.progress = NetworkError.Progress(stage)
    fail(error)
  }

  func fail(_ code: NetworkError.Code, _ message: String) { fail(NetworkError(code, message)) }

  /// Ends the caller's wait, or the body if it has begun.
  func fail(_ error: any Error) {
    var error = error
    if var known = error as? NetworkError {
      known.request = request
      error = known
    }
    if !settle(.failure(error)) { stream?.end(.failure(error)) }
  }
}

extension Transfer: Hashable {
  static func == (left: Transfer, right: Transfer) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - The body

extension Transfer {
  /// Takes the head.
  ///
  /// Returns why the response is refused, `nil` if it is not.
  func didReceive(_ response: HTTPURLResponse) -> NetworkError? {
    self.response = response
    state.withLock { $0.hasHead = true }
    firstByte = request.call.clock.now()
    let framing = ResponseFraming(response, to: request.method)
    self.framing = framing
    if let objection = framing.objection { return NetworkError(.badResponse, objection) }
    guard stream == nil else {
      settle(head: response)
      return nil
    }
    let limit = request.options.bodyLimit
    if let length = framing.bodyLength, length > limit { return NetworkError.bodyTooLarge(limit: limit) }
    return nil
  }

  /// Takes an interim response, which says nothing of the body and of the outcome.
  func didReceive(interim response: HTTPURLResponse) { interimStatus = response.statusCode }

  /// Adds a chunk of the body.
  ///
  /// - Throws: ``NetworkError`` if that exceeds a limit.
  func append(_ chunk: Data) throws {
    receivedCount += chunk.count
    if let stream {
      // Before the reader has the bytes, because it may look at the progress at once.
      progress?.received(Int64(receivedCount), of: framing?.bodyLength)
      return try stream.push(chunk)
    }
    let limit = request.options.bodyLimit
    guard receivedCount <= limit else { throw NetworkError.bodyTooLarge(limit: limit) }
    if body.isEmpty { body = chunk } else { body.append(chunk) }
    progress?.received(Int64(body.count), of: framing?.bodyLength)
  }

  /// The message for a body that is shorter than announced; `nil` if it is whole.
  var missing: String? { framing?.missing(from: receivedCount) }

  /// Settles the outcome when URLSession says that the transfer is complete.
  func complete() {
    guard let response else {
      let interim = interimStatus.map { "after the interim response \($0) no response came" }
      return fail(.badResponse, interim ?? "the response is not HTTP")
    }
    if let missing { return fail(.truncatedBody, missing) }
    succeed(response)
  }

  /// Settles the outcome with the response and the received body.
  func succeed(_ response: HTTPURLResponse) {
    if let stream {
      settle(head: response)
      return stream.end(.success(()))
    }
    let now = request.call.clock.now()
    var timings = ResponseTimings(sent: sent, firstByte: firstByte ?? now, lastByte: now)
    timings.connection = connection
    settle(.success(Received(response: response, body: body, timings: timings)))
  }

  /// Settles the outcome with the head of a streamed response.
  private func settle(head response: HTTPURLResponse) {
    let timings = ResponseTimings(sent: sent, firstByte: firstByte ?? request.call.clock.now(), lastByte: nil)
    settle(.success(Received(response: response, body: nil, timings: timings)))
  }
}

/// The chunks of a streamed response.
///
/// The sequence keeps the transport alive, because the transport's end would end the body.
struct TransferBytes: AsyncSequence, Sendable {
  typealias Element = Data

  let stream: ResponseSpool
  let transport: URLSessionTransport

  struct Iterator: AsyncIteratorProtocol {
    let bytes: TransferBytes

    func next() async throws -> Data? { try await bytes.stream.next() }
  }

  func makeAsyncIterator() -> Iterator { Iterator(bytes: self) }
}
