import Foundation
public import RequestBehaviors

/// The parts of a request in ``MockTransport/sent`` that tests inspect.
extension NetworkRequest {
  /// Returns the body decoded from JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - decoder: The decoder; by default Foundation's JSON decoder.
  /// - Returns: The decoded value.
  /// - Throws: `NetworkError` if there is no body or it is not in memory; the decoder's error if the body does not fit.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: any BodyDecoder = RequestConfiguration.jsonDecoder
  ) throws -> Value {
    try decoder.decode(type, from: bodyInMemory)
  }

  /// The body as text in UTF-8; invalid sequences are replaced.
  ///
  /// - Throws: `NetworkError` if there is no body or it is not in memory.
  public var text: String {
    get throws { String(decoding: try bodyInMemory, as: UTF8.self) }
  }

  /// The fields of a body that is `application/x-www-form-urlencoded`, in order.
  ///
  /// - Throws: `NetworkError` if there is no body or it is not in memory.
  public var form: Query {
    get throws { Query(percentEncoded: try text, plusIsSpace: true) }
  }

  /// The items of the URL's query, in order, without their percent-encoding.
  public var query: Query { Query(percentEncoded: url.query(percentEncoded: true) ?? "") }

  private var bodyInMemory: Data {
    get throws {
      guard let body else { throw NetworkError(.emptyBody, "the request was sent without a body", request: self) }
      guard let data = body.data else {
        throw NetworkError(
          .bodyNotBuffered, "the body is a file or a stream; those of MockTransport.sent are in memory", request: self)
      }
      return data
    }
  }

  /// Returns the request with the bytes of its body; a one-shot body is used up.
  ///
  /// - Parameters:
  ///   - start: When the request was sent. Its `timeout` ends the reading of a stream; its `idleTimeout` does not,
  ///     because almost every request has one, and a test that counts the sleepers of its clock would count it.
  ///   - reading: Ends the reading of a stream from outside.
  /// - Returns: The request.
  /// - Throws: `NetworkError` of code `bodyConsumed`, `bodyUnreadable` or `timedOut`, or `CancellationError`. After the
  ///   reading, the errors of `Call.verifySend(of:)`: the user may have signed out meanwhile.
  func withBodyInMemory(
    sentAt start: Duration, endedBy reading: PendingResult<NetworkRequest>
  ) async throws -> NetworkRequest {
    // A file is read without a wait, so that its request has been handed over when `send(_:)` first waits.
    if case .file = body?.content { return try await withBodyInMemory() }
    let timer = timeout.map { [clock = call.clock] timeout in
      clock.schedule(after: start + timeout - clock.now()) {
        // A clock whose waits end at once has not moved.
        guard clock.now() >= start + timeout else { return }
        let message = TransferDeadline.Expiry.total(timeout).message
        reading.end(.failure(NetworkError(.timedOut, message, request: self)))
      }
    }
    defer { timer?.cancel() }
    return try await reading.run { try await withBodyInMemory() }
  }

  private func withBodyInMemory() async throws -> NetworkRequest {
    guard let body else { return self }
    var copy = self
    copy.body = .data(try await bytes(of: body), contentType: body.contentType)
    // The user may have signed out while the body was read.
    try call.verifySend(of: self)
    return copy
  }

  private func bytes(of body: RequestBody) async throws -> Data {
    do {
      switch body.content {
      case .data(let data): return data
      case .file(let url):
        // Anything but a regular file might block this thread.
        _ = try RequestBody.length(ofFile: url)
        return try Data(contentsOf: url)
      case .stream(let makeStream): return try await bytes(of: makeStream(), body.length)
      case .oneShot(let stream): return try await bytes(of: stream.take(), body.length)
      }
    } catch let error as NetworkError where [.bodyConsumed, .bodyUnreadable].contains(error.code) {
      throw error
    } catch {
      try Task.checkCancellation()
      throw NetworkError(.bodyUnreadable, "the body could not be read: \(error)", request: self, underlyingError: error)
    }
  }

  private func bytes(of stream: ByteStream, _ length: Int64?) async throws -> Data {
    let data = try await stream.collect(upTo: .max)
    guard length ?? Int64(data.count) == data.count else {
      throw NetworkError(
        .bodyUnreadable, "the body stream has \(data.count) bytes where it was said to have \(length ?? 0)",
        request: self)
    }
    return data
  }
}
