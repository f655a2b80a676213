extension NetworkClient {
  /// Sends a request and returns its response as soon as the head is there; the body is read from it in chunks.
  ///
  /// ```swift
  /// let response = try await client.stream(.get("export"))
  /// for try await chunk in response.bytes { file.write(chunk) }
  /// ```
  ///
  /// A reader that is slow keeps little in memory: the transport waits for it, or keeps what it lags behind in a file. The
  /// transfer is cancelled by dropping the response unread, by leaving the loop, by cancelling the task that reads, and
  /// ended by ``shutdown()``. Until then it keeps its connection open, and its transport alive.
  ///
  /// The status and everything else that the behaviors decide on is settled when the response is returned; what fails
  /// later is thrown by the loop and told by ``NetworkResponse/completion``. No hook is called for it. The call ends, for
  /// its observers too, when the body has ended. ``RequestOptions/timeout`` and a deadline cover the body.
  ///
  /// A response whose status is not acceptable is an error, with the first 64 KiB of its body in memory.
  ///
  /// - Parameter request: The request. Behaviors of its own that save responses are refused, those of the configuration
  ///   let it pass.
  /// - Returns: The response. Its body may be in memory: a cache had it, or the transport has no streams.
  /// - Throws: ``NetworkError``, `CancellationError` if the task was cancelled, or what a behavior threw.
  @concurrent
  public func stream(_ request: Request<NetworkResponse>) async throws -> NetworkResponse {
    var streamed = request
    streamed.options.delivery = .streamed
    let performed = try await perform(streamed)
    if case .stream(let stream) = performed.response.body { waits.endWithClient(stream) }
    report(performed)
    return performed.response
  }
}

extension Chain {
  /// Throws if a behavior of the request itself is to save a body that nobody has read.
  func checkStreams() throws {
    let saving = pipeline.entries.first { $0.source == .request && $0.order.standard == .persistence }
    guard let saving else { return }
    throw NetworkError(
      .invalidBehavior,
      "\(saving.name) of the request saves the whole response, which a streamed one never is; send the request with "
        + "send(_:), or leave the behavior out")
  }
}

extension ClientWaits {
  /// Ends a stream when the client is shut down; until then it is not kept alive by it.
  func endWithClient(_ stream: ByteStream) {
    let canceller = stream.canceller
    guard let id = add({ canceller.cancel(throwing: NetworkError.clientShutDown()) }) else {
      return stream.cancel(throwing: NetworkError.clientShutDown())
    }
    stream.onCompletion { [self] _ in remove(id) }
  }
}
