import Foundation

/// Reads the stream of a request's body before it is sent.
///
/// It runs in a task of its own, so that a cancelled caller or an expired deadline need not wait for the stream.
package struct BodyReader: Sendable {
  private let task: Task<Void, Never>
  private let state: Locked<State>

  private struct State: Sendable {
    var stream: ByteStream?
    var isCancelled = false
  }

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - request: The request whose body is read.
  ///   - spool: The spool for the bytes.
  ///   - onChunk: Called for each chunk that is not empty.
  ///   - completion: Called with the bytes or the error.
  init(
    _ request: NetworkRequest, _ spool: BodySpool, onChunk: @escaping @Sendable () -> Void,
    completion: @escaping @Sendable (Result<SpooledContent, any Error>) -> Void
  ) {
    let state = Locked(State())
    self.state = state
    task = Task {
      do {
        // Here and not before, because the user's closure may take long, and the caller has other transfers.
        let stream = try BodyReader.open(request)
        let isCancelled = state.withLock { state in
          state.stream = stream
          return state.isCancelled
        }
        if isCancelled { stream.cancel() }
        let length = request.body?.length
        completion(.success(try await RequestSpool(settings: spool).read(stream, length: length, onChunk: onChunk)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Stops reading.
  func cancel() {
    let stream = state.withLock { state in
      state.isCancelled = true
      return state.stream
    }
    stream?.cancel()
    task.cancel()
  }

  private static func open(_ request: NetworkRequest) throws -> ByteStream {
    switch request.body?.content {
    case .stream(let makeStream): makeStream()
    case .oneShot(let stream): try stream.take()
    default: ByteStream(chunks: [])
    }
  }
}
