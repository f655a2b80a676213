package import Foundation

/// Reads a stream to its end, into memory while it is small and into a file from then on.
///
/// URLSession on Linux can neither wait for a stream without blocking every session of the process nor announce its
/// length, and it sends an empty body when it has to send again.
package struct BodySpool: Sendable {
  /// Where the bytes are.
  enum Spooled: Sendable {
    case memory(Data)
    case file(TemporaryFile)
  }

  private let memoryLimit: Int
  private let directory: URL

  /// Creates a spool.
  ///
  /// - Parameters:
  ///   - memoryLimit: How many bytes are kept in memory.
  ///   - directory: Where files are made.
  package init(memoryLimit: Int = 256 * 1_024, directory: URL = FileManager.default.temporaryDirectory) {
    self.memoryLimit = memoryLimit
    self.directory = directory
  }

  /// Reads a stream.
  ///
  /// - Parameters:
  ///   - stream: The stream, which is cancelled if it is not read to its end.
  ///   - length: The number of bytes that it is said to have.
  ///   - onChunk: Called for each chunk with bytes in it.
  /// - Returns: The bytes.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  func spool(_ stream: ByteStream, length: Int64?, onChunk: () -> Void) async throws -> Spooled {
    do {
      let (spooled, count) = try await read(stream, onChunk)
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

  private func read(_ stream: ByteStream, _ onChunk: () -> Void) async throws -> (Spooled, count: Int64) {
    var pending = Data()
    var count: Int64 = 0
    var writer: Writer?
    for try await chunk in stream where !chunk.isEmpty {
      onChunk()
      count += Int64(chunk.count)
      pending.append(chunk)
      guard pending.count > memoryLimit else { continue }
      if writer == nil { writer = try await Writer(in: directory) }
      try await writer?.append(pending)
      pending = Data()
    }
    guard let writer else { return (.memory(pending), count) }
    return (.file(try await writer.finish(appending: pending)), count)
  }
}

/// Writes a temporary file off the threads of Swift's pool: writing may block.
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

/// A file that is removed when nobody refers to it any more.
final class TemporaryFile: Sendable {
  let url: URL

  /// Creates an empty file that only its owner can read.
  ///
  /// - Throws: `CocoaError` if the directory does not take one.
  init(in directory: URL) throws {
    url = directory.appendingPathComponent("RequestBehaviors-\(UUID().uuidString).body")
    // The body may hold secrets.
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
