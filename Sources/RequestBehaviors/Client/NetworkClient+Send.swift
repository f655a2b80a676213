extension NetworkClient {
  /// Sends a request and returns the decoded value of its answer.
  ///
  /// Sending and decoding never run on an actor of the caller's.
  ///
  /// - Parameter request: The request; the type of the answer follows from where the value goes.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  @concurrent
  public func send<Value: Decodable & Sendable>(_ request: Request<Value>) async throws -> Value {
    try await response(for: request).value
  }

  /// Sends a request and returns the decoded value of its answer, decoded where the caller is.
  ///
  /// For values that are not `Sendable`, such as class models, or whose conformance to `Decodable` is isolated to an
  /// actor. Sending still leaves the caller's actor.
  ///
  /// - Parameter request: The request; the type of the answer follows from where the value goes.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  public func send<Value: Decodable>(_ request: Request<Value>) async throws -> Value {
    try await response(for: request).value
  }

  /// Sends a request whose answer is of no interest as long as its status is acceptable.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  public func send(_ request: Request<Void>) async throws {
    let answer = try await exchange(request)
    answer.response.body.cancel()
    report(answer, decoding: .zero, error: nil)
  }

  /// Sends a request and returns what its type makes of the whole answer, such as a ``NetworkResponse``.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior or the type threw.
  @concurrent
  public func send<Value: ResponseConvertible>(_ request: Request<Value>) async throws -> Value {
    let answer = try await exchange(request)
    let start = answer.call.clock.now()
    do {
      let value = try await Value(answer.response)
      report(answer, decoding: answer.call.clock.now() - start, error: nil)
      return value
    } catch {
      report(answer, decoding: answer.call.clock.now() - start, error: error)
      throw error
    }
  }

  /// Sends a request and returns the decoded value together with the answer that it came from.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  @concurrent
  public func response<Value: Decodable & Sendable>(for request: Request<Value>) async throws -> Response<Value> {
    let answer = try await bufferedExchange(request)
    return try decode(answer)
  }

  /// Sends a request and returns the value, decoded where the caller is, together with the answer that it came from.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  public func response<Value: Decodable>(for request: Request<Value>) async throws -> Response<Value> {
    let answer = try await bufferedExchange(request)
    return try decode(answer)
  }

  @concurrent
  private func bufferedExchange<Value: Decodable>(_ request: Request<Value>) async throws -> Answer {
    let answer = try await exchange(request, accept: ResponseDecoding.decodes(Value.self) ? acceptedTypes : nil)
    guard case .stream = answer.response.body else { return answer }
    do {
      let response = try await waits.run { try await answer.response.buffered() }
      return Answer(call: answer.call, chain: answer.chain, request: answer.request, response: response)
    } catch {
      report(error, answer.call, answer.chain, request: answer.request)
      throw error
    }
  }

  private func decode<Value: Decodable>(_ answer: Answer) throws -> Response<Value> {
    let clock = answer.call.clock
    let start = clock.now()
    do {
      let value = try ResponseDecoding(answer.response).value(Value.self)
      let decoding = clock.now() - start
      report(answer, decoding: decoding, error: nil)
      return Response(value: value, network: answer.response, decoding: decoding)
    } catch {
      report(answer, decoding: clock.now() - start, error: error)
      throw error
    }
  }
}
