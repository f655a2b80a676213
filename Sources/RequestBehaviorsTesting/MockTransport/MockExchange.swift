import Foundation
import RequestBehaviors

/// The response to one request, as its stub and the request's options say.
struct MockExchange: Sendable {
  let request: NetworkRequest
  /// The request with its body in memory.
  let shown: NetworkRequest
  let start: Duration
  let answer: MockResponse

  /// Whether making the response may take time, and so must be possible to end from outside.
  var mayWait: Bool {
    if case .closure = answer.kind { return true }
    return answer.delay > .zero
  }

  /// Returns the response after its delay.
  func response() async throws -> NetworkResponse {
    try await delay()
    guard case .closure(let makeResponse) = answer.kind else { return try immediateResponse() }
    var response = try await makeResponse(shown)
    response.request = request
    response.source = .mock
    return try limited(response)
  }

  /// Returns a response that takes no time.
  func immediateResponse() throws -> NetworkResponse {
    switch answer.kind {
    case .response(let status, let headers, let body): return try limited(response(status, headers, .data(body)))
    case .stream(let status, let headers, let chunks, let error):
      return response(status, headers, .stream(MockStream.make(chunks, failingWith: error.map(described))))
    case .failure(let error): throw described(error)
    case .closure: throw CancellationError()
    }
  }

  private func delay() async throws {
    guard answer.delay > .zero else { return }
    let limit = [request.idleTimeout, request.timeout].compactMap(\.self).min()
    guard let limit, limit <= answer.delay else { return try await request.call.clock.sleep(for: answer.delay) }
    try await request.call.clock.sleep(for: limit)
    throw NetworkError(.timedOut, "no response came within \(limit); the mock's comes after \(answer.delay)")
  }

  private func response(_ status: Int, _ headers: HeaderFields, _ body: ResponseBody) -> NetworkResponse {
    let now = request.call.clock.now()
    return NetworkResponse(
      request: request, statusCode: status, headers: headers, body: body,
      timings: ResponseTimings(sent: start, firstByte: now, lastByte: now), source: .mock)
  }

  private func limited(_ original: NetworkResponse) throws -> NetworkResponse {
    var response = original
    if request.method == .head || response.statusCode == 204 || response.statusCode == 304 {
      response.body.cancel()
      response.body = .empty
    }
    if case .data(let data) = response.body, data.count > request.options.bodyLimit {
      throw NetworkError.bodyTooLarge(limit: request.options.bodyLimit)
    }
    return response
  }

  private func described(_ error: any Error) -> any Error {
    guard var error = error as? NetworkError, error.request == nil else { return error }
    error.request = request
    return error
  }
}

/// The chunks of a streamed response, then perhaps an error.
struct MockStream: AsyncSequence, Sendable {
  typealias Element = Data

  private let chunks: [Data]
  private let error: (any Error)?
  private let cancellation: Cancellation

  static func make(_ chunks: [Data], failingWith error: (any Error)?) -> ByteStream {
    let cancellation = Cancellation()
    let stream = MockStream(chunks: chunks, error: error, cancellation: cancellation)
    return ByteStream(stream, onCancel: { cancellation.cancel() })
  }

  struct Iterator: AsyncIteratorProtocol {
    var chunks: IndexingIterator<[Data]>
    var error: (any Error)?
    let cancellation: Cancellation

    mutating func next() async throws -> Data? {
      try Task.checkCancellation()
      if cancellation.isCancelled { throw CancellationError() }
      if let chunk = chunks.next() { return chunk }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(chunks: chunks.makeIterator(), error: error, cancellation: cancellation)
  }

  final class Cancellation: Sendable {
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var cancelled = false

    var isCancelled: Bool { lock.withLock { cancelled } }

    func cancel() { lock.withLock { cancelled = true } }
  }
}
