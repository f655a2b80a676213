package import Foundation

/// Reads the stream of a request's body before it is sent.
///
/// It runs in a task of its own, so that a cancelled caller and an expired deadline need not wait for the stream.
package struct BodyReader: Sendable {
  private let task: Task<Void, Never>
  private let stream: ByteStream?

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - request: The request whose body is read.
  ///   - spool: Where the bytes go.
  ///   - onChunk: Called for each chunk with bytes in it.
  ///   - completion: Called with the bytes, or with why there are none.
  init(
    _ request: NetworkRequest, _ spool: BodySpool, onChunk: @escaping @Sendable () -> Void,
    completion: @escaping @Sendable (Result<BodySpool.Spooled, any Error>) -> Void
  ) {
    let opened = Result { try BodyReader.open(request) }
    stream = try? opened.get()
    task = Task {
      do {
        let stream = try opened.get()
        completion(.success(try await spool.spool(stream, length: request.body?.length, onChunk: onChunk)))
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

  /// The number of bytes in a body file.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it cannot be sent.
  package static func length(of file: URL) throws -> Int64 {
    let path = file.resolvingSymlinksInPath().path
    guard file.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) does not exist")
    }
    // Anything else, such as a pipe, might block every session of the process.
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) is not a regular file")
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) must not be read by this user")
    }
    return (attributes[.size] as? NSNumber)?.int64Value ?? 0
  }
}
