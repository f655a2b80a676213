import Foundation
import RequestBehaviors

/// The response to one request, as its stub and the request's options say.
struct MockExchange: Sendable {
  let request: NetworkRequest
  /// The request with its body in memory.
  let shown: NetworkRequest
  let start: Duration
  let answer: MockResponse

  /// Whether making the response may take time, so that it must be possible to end it from outside.
  var mayWait: Bool {
    // No server responds within no time.
    if let limit, limit <= .zero { return true }
    return switch answer.kind {
    case .closure: true
    case .stream: request.options.delivery == .buffered || answer.delay > .zero
    case .response, .failure: answer.delay > .zero
    }
  }

  /// The longest time until the head of the response.
  private var limit: Duration? { [request.idleTimeout, request.timeout].compactMap(\.self).min() }

  /// Returns the response after its delay.
  func response() async throws -> NetworkResponse {
    try await delay()
    guard case .closure(let makeResponse) = answer.kind else { return try await delivered(try immediateResponse()) }
    var response = try await makeResponse(shown)
    response.request = request
    response.source = .mock
    return try await delivered(try limited(response))
  }

  /// Returns a response that takes no time.
  func immediateResponse() throws -> NetworkResponse {
    switch answer.kind {
    case .response(let status, let headers, let body):
      return streamed(try limited(response(status, headers, .data(body))))
    case .stream(let status, let headers, let steps, let trailers):
      let stream = MockStream(
        steps.map(described), status: status, trailers: trailers, to: request, sentAt: start)
      return try limited(response(status, headers, .stream(stream.byteStream)))
    case .failure(let error): throw described(error)
    case .closure: throw CancellationError()
    }
  }

  private func delay() async throws {
    let clock = request.call.clock
    // The time limit of the send also covers the reading of its body, which has taken its part.
    let spent = clock.now() - start
    let total = request.timeout.map { max(.zero, $0.boundedSum(with: .zero - spent)) }
    let left = [request.idleTimeout, total].compactMap(\.self).min()
    guard let limit, let left, left <= max(.zero, answer.delay) else {
      return try await clock.sleep(for: answer.delay)
    }
    try await clock.sleep(for: left)
    throw NetworkError(.timedOut, "no response came within \(limit); the mock's comes after \(answer.delay)")
  }

  private func response(_ status: Int, _ headers: HeaderFields, _ body: ResponseBody) -> NetworkResponse {
    let now = request.call.clock.now()
    let end = if case .stream = body { Duration?.none } else { now }
    return NetworkResponse(
      request: request, statusCode: status, headers: headers, body: body,
      timings: ResponseTimings(sent: start, firstByte: now, lastByte: end), source: .mock)
  }

  /// Returns the response with its body in the form that the request wants.
  private func delivered(_ response: NetworkResponse) async throws -> NetworkResponse {
    guard request.options.delivery == .buffered, case .stream = response.body else { return streamed(response) }
    return try await response.buffered()
  }

  /// Returns the response with a body in memory turned into a stream, if the request wants a stream.
  private func streamed(_ response: NetworkResponse) -> NetworkResponse {
    guard request.options.delivery == .streamed, case .data(let data) = response.body else { return response }
    var streamed = response
    streamed.body = .stream(ByteStream(chunks: data.isEmpty ? [] : [data]))
    streamed.timings.lastByte = nil
    return streamed
  }

  private func limited(_ original: NetworkResponse) throws -> NetworkResponse {
    var response = original
    if ResponseFraming.isBodiless(response.statusCode, to: request.method) {
      response.body.cancel()
      response.body = .empty
    }
    if request.options.delivery == .buffered, case .data(let data) = response.body,
      data.count > request.options.bodyLimit
    {
      throw NetworkError.bodyTooLarge(limit: request.options.bodyLimit)
    }
    return response
  }

  private func described(_ step: MockStreamStep) -> MockStreamStep {
    if case .failure(let error) = step.kind { .fail(described(error)) } else { step }
  }

  private func described(_ error: any Error) -> any Error {
    guard var error = error as? NetworkError, error.request == nil else { return error }
    error.request = request
    return error
  }
}
