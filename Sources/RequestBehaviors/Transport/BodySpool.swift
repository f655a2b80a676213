public import Foundation

/// Where ``URLSessionTransport`` keeps the stream of a request's body until it is sent: in memory while it is small, and in
/// a temporary file from then on.
///
/// URLSession on Linux can neither wait for a stream without blocking every session of the process nor announce its
/// length, and it sends an empty body when it has to send again. A stream is read once for a call: a retry, a redirect or
/// a replay sends what was read. The file can be read by its owner only, and is removed when the call has ended.
public struct BodySpool: Sendable {
  /// Where the bytes are.
  enum Spooled: Sendable {
    case memory(Data)
    case file(TemporaryFile)
  }

  /// How many bytes are kept in memory; 256 KiB by default.
  public var memoryLimit: Int

  /// The most bytes of one body; 4 GiB by default.
  ///
  /// A longer stream fails the send with ``NetworkError/Code-swift.struct/bodyUnreadable``.
  public var limit: Int64

  /// Where files are made; by default in the system's directory for temporary files.
  public var directory: URL

  /// Creates a spool.
  ///
  /// - Parameters:
  ///   - memoryLimit: How many bytes are kept in memory.
  ///   - limit: The most bytes of one body.
  ///   - directory: Where files are made.
  public init(
    memoryLimit: Int = 256 * 1_024, limit: Int64 = 4 << 30, directory: URL = FileManager.default.temporaryDirectory
  ) {
    self.memoryLimit = memoryLimit
    self.limit = limit
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
      if let length { try check(length) }
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

  private func check(_ count: Int64) throws {
    guard count > limit else { return }
    throw NetworkError(
      .bodyUnreadable,
      "the body stream is longer than the \(limit) bytes that may be kept of it; send a file, or raise the limit of the "
        + "spool")
  }

  private func read(_ stream: ByteStream, _ onChunk: () -> Void) async throws -> (Spooled, count: Int64) {
    var pending = Data()
    var count: Int64 = 0
    var writer: Writer?
    for try await chunk in stream where !chunk.isEmpty {
      onChunk()
      count += Int64(chunk.count)
      try check(count)
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

/// What the streams of a call's bodies were read into, for the sends that follow.
///
/// A call outlives its run, for every response refers to it: what is kept is let go when the run ends.
struct SpooledBodies: Sendable {
  /// Whether a run is under way that lets go of it.
  var isKept = false

  private var bodies: [ObjectIdentifier: (identity: RequestBody.Identity, spooled: BodySpool.Spooled)] = [:]

  /// What a body was read into; `nil` if it has not been read, or can be sent once only.
  subscript(body: RequestBody?) -> BodySpool.Spooled? {
    get { body?.identity.flatMap { bodies[ObjectIdentifier($0)]?.spooled } }
    set {
      guard isKept, let identity = body?.identity else { return }
      bodies[ObjectIdentifier(identity)] = newValue.map { (identity, $0) }
    }
  }

  /// The place of it in a call.
  enum Key: CallKey {
    static var defaultValue: SpooledBodies { SpooledBodies() }
  }
}
