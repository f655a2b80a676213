public import Foundation

/// Where a transport keeps the bytes of a stream that it can neither send on nor hand over yet: in memory while they are
/// few, and in temporary files from then on.
///
/// ``URLSessionTransport`` has two. One keeps what the reader of a streamed response lags behind, because URLSession
/// cannot make a server wait. The other keeps the stream of a request's body until it is sent: URLSession on Linux can
/// neither wait for a stream without blocking every session of the process nor announce its length, and it sends an
/// empty body when it has to send again. Such a stream is read once for a call: a retry, a redirect or a replay sends
/// what was read.
///
/// Only the owner of the process can read the files. They are removed when the call, or the response, has ended.
public struct BodySpool: Sendable, Hashable {
  /// How many bytes are kept in memory; 256 KiB by default.
  public var memoryLimit: Int

  /// The most bytes that are kept of one body; 4 GiB by default.
  ///
  /// A longer body of a request fails the send with ``NetworkError/Code-swift.struct/bodyUnreadable``; the reader of a
  /// response who lags further behind gets ``NetworkError/Code-swift.struct/bodyTooLarge``.
  public var limit: Int64

  /// Where files are made; by default in the system's directory for temporary files.
  public var directory: URL

  /// Creates a spool.
  ///
  /// - Parameters:
  ///   - memoryLimit: How many bytes are kept in memory.
  ///   - limit: The most bytes that are kept of one body.
  ///   - directory: Where files are made.
  public init(
    memoryLimit: Int = 256 * 1_024, limit: Int64 = 4 << 30, directory: URL = FileManager.default.temporaryDirectory
  ) {
    self.memoryLimit = memoryLimit
    self.limit = limit
    self.directory = directory
  }
}
