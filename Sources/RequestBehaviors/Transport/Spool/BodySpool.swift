public import Foundation

/// The settings for buffering a stream that a transport can neither send nor deliver yet: in memory first, and then in
/// temporary files.
///
/// ``URLSessionTransport`` has two spools. One keeps the bytes of a streamed response that its reader has not read yet,
/// because URLSession cannot make a server wait. The other keeps the stream of a request's body until it is sent.
/// URLSession on Linux cannot wait for a stream without blocking every session of the process, cannot announce its
/// length, and sends an empty body when it has to send again. Such a stream is read once for a call: a retry, a
/// redirect or a replay sends the bytes that were read.
///
/// Only the owner of the process can read the files. They are removed when the call, or the response, has ended.
public struct BodySpool: Sendable, Hashable {
  /// The number of bytes that are kept in memory; 256 KiB by default.
  public var memoryLimit: Int

  /// The maximum number of bytes that are kept of one body; 4 GiB by default.
  ///
  /// A longer body of a request fails the send with ``NetworkError/Code-swift.struct/bodyUnreadable``. A reader of a
  /// response that lags further behind gets ``NetworkError/Code-swift.struct/bodyTooLarge``.
  public var limit: Int64

  /// The directory of the files; by default the system's directory for temporary files.
  public var directory: URL

  /// Creates a spool.
  ///
  /// - Parameters:
  ///   - memoryLimit: The number of bytes that are kept in memory.
  ///   - limit: The maximum number of bytes that are kept of one body.
  ///   - directory: The directory of the files.
  public init(
    memoryLimit: Int = 256 * 1_024, limit: Int64 = 4 << 30, directory: URL = FileManager.default.temporaryDirectory
  ) {
    self.memoryLimit = memoryLimit
    self.limit = limit
    self.directory = directory
  }
}
