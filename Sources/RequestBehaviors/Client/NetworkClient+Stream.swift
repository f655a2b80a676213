extension NetworkClient {
  /// Sends a request and returns its response as soon as the head is there; the body is read from it in chunks.
  ///
  /// ```swift
  /// let response = try await client.stream(.get("export"))
  /// for try await chunk in response.bytes { file.write(chunk) }
  /// ```
  ///
  /// A slow reader needs little memory: the transport waits for it, or stores the data that it has not read yet in a
  /// file. The transfer is cancelled by dropping the response unread, by leaving the loop, or by cancelling the task
  /// that reads. ``shutdown()`` ends it too. Until then it keeps its connection open and its transport alive.
  ///
  /// The status, and all that the behaviors decide by it, is settled when the response is returned. A later failure is
  /// thrown by the loop and reported by ``NetworkResponse/completion``; no hook is called for it. The call ends, for
  /// its observers too, when the body has ended. ``RequestOptions/timeout`` and a deadline cover the body.
  ///
  /// A response whose status is not acceptable is an error, with the first 64 KiB of its body in memory.
  ///
  /// - Parameter request: The request. Its own behaviors must not save responses; those of the configuration let it
  ///   pass.
  /// - Returns: The response. Its body may be in memory, if it came from a cache or if the transport has no streams.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or the error of a behavior.
  @concurrent
  public func stream(_ request: Request<NetworkResponse>) async throws -> NetworkResponse {
    let mapping = errorMapping(of: request)
    do { return try await originalStream(request).leaving(with: mapping) } catch { throw mapping(error) }
  }

  /// Sends a request and returns its response as behaviors get it, with the errors as they arise.
  func originalStream(_ request: Request<NetworkResponse>) async throws -> NetworkResponse {
    var streamed = request
    streamed.options.delivery = .streamed
    let performed = try await perform(streamed)
    if case .stream(let stream) = performed.response.body { lifetime.endWithClient(stream) }
    report(performed)
    return performed.response
  }
}

extension Chain {
  /// Throws if a behavior of the request itself would save the body, which is not read yet.
  func checkStreams() throws {
    let saving = pipeline.entries.first { $0.source == .request && $0.order.standard == .persistence }
    guard let saving else { return }
    throw NetworkError(
      .invalidBehavior,
      "\(saving.name) of the request saves the whole response, which a streamed one never is; send the request with "
        + "send(_:), or leave the behavior out")
  }
}

extension ClientLifetime {
  /// Ends a stream when the client is shut down; the client does not keep the stream alive.
  func endWithClient(_ stream: ByteStream) {
    let canceller = stream.canceller
    guard let id = add({ canceller.cancel(throwing: NetworkError.clientShutDown()) }) else {
      return stream.cancel(throwing: NetworkError.clientShutDown())
    }
    stream.onCompletion { [self] _ in remove(id) }
  }
}
