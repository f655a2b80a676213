import Foundation

/// Reads the stream of a request's body: into memory first, and then into a temporary file.
struct RequestSpool: Sendable {
  let settings: BodySpool

  /// Reads a stream.
  ///
  /// - Parameters:
  ///   - stream: The stream, which is cancelled if it is not read to its end.
  ///   - length: The announced number of bytes; `nil` if unknown.
  ///   - onChunk: Called for each chunk that is not empty.
  /// - Returns: The bytes.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  func read(_ stream: ByteStream, length: Int64?, onChunk: () -> Void) async throws -> SpooledContent {
    do {
      if let length { try check(length) }
      let (spooled, count) = try await readAll(stream, length, onChunk)
      if let length, length != count {
        throw NetworkError(.bodyUnreadable, "the body stream has \(count) bytes where it was said to have \(length)")
      }
      return spooled
    } catch let error as NetworkError where error.code == .bodyUnreadable {
      stream.cancel()
      throw error
    } catch {
      stream.cancel()
      throw NetworkError(.bodyUnreadable, "the body stream could not be read to its end", underlyingError: error)
    }
  }

  private func check(_ count: Int64) throws {
    guard count > settings.limit else { return }
    throw NetworkError(
      .bodyUnreadable,
      "the body stream is longer than the \(settings.limit) bytes that may be kept of it; send a file, or raise the limit of the "
        + "spool")
  }

  private func readAll(
    _ stream: ByteStream, _ length: Int64?, _ onChunk: () -> Void
  ) async throws -> (SpooledContent, count: Int64) {
    var pending = Data()
    var count: Int64 = 0
    var writer: Writer?
    for try await chunk in stream where !chunk.isEmpty {
      onChunk()
      count += Int64(chunk.count)
      // A stream that is too long is refused at its first surplus chunk, before it fills the disk.
      try check(count)
      if let length, count > length {
        throw NetworkError(
          .bodyUnreadable, "the body stream has more than the \(length) bytes that it was said to have")
      }
      pending.append(chunk)
      guard pending.count > settings.memoryLimit else { continue }
      // Most bodies are small and never need a file.
      try await writing {
        if writer == nil { writer = try await Writer(in: settings.directory) }
        try await writer?.append(pending)
      }
      pending = Data()
    }
    guard let writer else { return (.memory(pending), count) }
    return (.file(try await writing { try await writer.finish(appending: pending) }, length: count), count)
  }

  /// Does work on the file; its error is told from an error of the stream.
  private func writing<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch {
      throw NetworkError(
        .bodyUnreadable,
        "the body stream could not be kept in \(settings.directory.path): \(error.localizedDescription)",
        underlyingError: error)
    }
  }
}

/// Writes a temporary file outside Swift's thread pool, because writing may block.
private struct Writer: Sendable {
  private let file: TemporaryFile
  private let handle: FileHandle

  init(in directory: URL) async throws {
    (file, handle) = try await FileQueue.run {
      let file = try TemporaryFile(in: directory)
      return (file, try FileHandle(forWritingTo: file.url))
    }
  }

  func append(_ data: Data) async throws {
    try await FileQueue.run { [handle] in try handle.write(contentsOf: data) }
  }

  func finish(appending data: Data) async throws -> TemporaryFile {
    try await FileQueue.run { [handle] in
      try handle.write(contentsOf: data)
      try handle.close()
    }
    return file
  }
}
