extension NetworkClient {
  /// Sends a request and returns the decoded value of its response.
  ///
  /// Sending and decoding never run on an actor of the caller's.
  ///
  /// - Parameter request: The request; the type of the response follows from the type of the value.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  @concurrent
  public func send<Value: Decodable & Sendable>(_ request: Request<Value>) async throws -> Value {
    try await response(for: request).value
  }

  /// Sends a request and returns the decoded value of its response, decoded in the caller's isolation.
  ///
  /// Use it for values that are not `Sendable`, such as class models, or whose conformance to `Decodable` is isolated
  /// to an actor. Sending still leaves the caller's actor.
  ///
  /// - Parameter request: The request; the type of the response follows from the type of the value.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  public func send<Value: Decodable>(_ request: Request<Value>) async throws -> Value {
    try await response(for: request).value
  }

  /// Sends a request and drops the body of its response; only an acceptable status matters.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  public func send(_ request: Request<Void>) async throws {
    do { _ = try await originalSend(request) } catch { throw errorMapping(of: request)(error) }
  }

  /// Sends a request and returns its response as behaviors get it, without its body and with the errors as they arise.
  // Inlined, because each asynchronous function takes memory of its task.
  @inline(__always)
  func originalSend(_ request: Request<Void>) async throws -> NetworkResponse {
    var performed = try await perform(request)
    if case .stream(let body) = performed.response.body {
      body.cancel()
      performed.response = performed.response.withoutStream
    }
    report(performed)
    return performed.response
  }

  /// Sends a request and returns a value made from the whole response, such as a ``NetworkResponse``.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior or of the
  ///   value's type.
  @concurrent
  public func send<Value: ResponseConvertible>(_ request: Request<Value>) async throws -> Value {
    do {
      let value = try await originalSend(request)
      guard let response = value as? NetworkResponse, let mapping = errorMapping(of: request) else { return value }
      return response.leaving(with: mapping) as? Value ?? value
    } catch {
      throw errorMapping(of: request)(error)
    }
  }

  /// Sends a request and returns a value made from the response as behaviors get it, with the errors as they arise.
  @concurrent
  func originalSend<Value: ResponseConvertible>(_ request: Request<Value>) async throws -> Value {
    let performed = try await perform(request, accept: request.asksForDecodable ? acceptedTypes : nil)
    let start = performed.call.clock.now()
    do {
      let value = try await Value(performed.response)
      report(performed, decoding: performed.call.clock.now() - start)
      return value
    } catch {
      report(performed, decoding: performed.call.clock.now() - start, error: error)
      throw error
    }
  }

  /// Sends a request and returns the decoded value together with its response.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  @concurrent
  public func response<Value: Decodable & Sendable>(for request: Request<Value>) async throws -> Response<Value> {
    do {
      let performed = try await performBuffered(request)
      return try decode(performed).leaving(with: errorMapping(of: performed))
    } catch {
      throw errorMapping(of: request)(error)
    }
  }

  /// Sends a request and returns the decoded value with its response as behaviors get it, with the errors as they
  /// arise.
  @concurrent
  func originalResponse<Value: Decodable & Sendable>(for request: Request<Value>) async throws -> Response<Value> {
    try decode(try await performBuffered(request))
  }

  /// Sends a request and returns the value, decoded in the caller's isolation, together with its response.
  ///
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  public func response<Value: Decodable>(for request: Request<Value>) async throws -> Response<Value> {
    do {
      let performed = try await performBuffered(request)
      return try decode(performed).leaving(with: errorMapping(of: performed))
    } catch {
      throw errorMapping(of: request)(error)
    }
  }

  /// Performs a call and reads the body of its response into memory.
  @concurrent
  private func performBuffered<Value: Decodable>(_ request: Request<Value>) async throws -> PerformedCall {
    let isDecoded = ResponseDecoding.decodes(Value.self, at: request.options.decodingPath)
    let performed = try await perform(request, accept: isDecoded ? acceptedTypes : nil)
    guard case .stream = performed.response.body else { return performed }
    do {
      var buffered = performed
      buffered.response = try await lifetime.run { try await performed.response.buffered() }
      return buffered
    } catch {
      report(performed, error: error, phase: .sending)
      throw error
    }
  }

  private func decode<Value: Decodable>(_ performed: PerformedCall) throws -> Response<Value> {
    let clock = performed.call.clock
    let start = clock.now()
    do {
      let value = try ResponseDecoding(performed.response).value(Value.self)
      let decoding = clock.now() - start
      report(performed, decoding: decoding)
      return Response(value: value, http: performed.response, decoding: decoding)
    } catch {
      report(performed, decoding: clock.now() - start, error: error)
      throw error
    }
  }
}
