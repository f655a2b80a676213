import Foundation

/// Reads the stream of a request's body before it is sent.
///
/// It runs in a task of its own, so that a cancelled caller or an expired deadline need not wait for the stream.
package struct BodyReader: Sendable {
  private let task: Task<Void, Never>
  private let stream: ByteStream?

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
    let opened = Result { try BodyReader.open(request) }
    stream = try? opened.get()
    task = Task {
      do {
        let stream = try opened.get()
        let length = request.body?.length
        completion(.success(try await RequestSpool(settings: spool).read(stream, length: length, onChunk: onChunk)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Stops reading.
  func cancel() {
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
