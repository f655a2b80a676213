public import Foundation

/// The body of a request: bytes, a file, or a stream.
///
/// Bytes, files and streams from a factory can be sent again, by a retry, a redirect or a replay with a fresh token. A
/// one-shot stream cannot: once its first chunk has been asked for, a behavior that would send it again gives up and
/// keeps the current outcome. Until then it can be sent again. A transport that asks for chunks while it sends has read
/// nothing when a connection is refused. ``URLSessionTransport`` reads a stream before it connects.
public struct RequestBody: Sendable {
  /// The source of the bytes.
  public enum Content: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// The contents of a file.
    case file(URL)
    /// A stream that is created again for every send.
    case stream(@Sendable () -> ByteStream)
    /// A stream that can be sent once.
    case oneShot(OneShotStream)
  }

  /// The source of the bytes.
  public let content: Content

  /// The media type, sent as `Content-Type` unless the request sets its own.
  public let contentType: String?

  /// The number of bytes; `nil` if it is unknown.
  public let length: Int64?

  /// The key under which a call remembers the contents of a stream; `nil` for bodies that need no such memory.
  let identity: Identity?

  final class Identity: Sendable {}

  private init(_ content: Content, contentType: String?, length: Int64?) {
    self.content = content
    if case .stream = content { identity = Identity() } else { identity = nil }
    self.contentType = contentType
    self.length = length
  }

  /// Creates a body of bytes.
  public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
    RequestBody(.data(data), contentType: contentType, length: Int64(data.count))
  }

  /// Creates a body of a file's contents, read while the request is sent.
  ///
  /// The file must stay as it is until the call ends. If it is removed or becomes shorter before it is sent, the send
  /// fails with ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
    RequestBody(.file(url), contentType: contentType, length: nil)
  }

  /// Creates a body of a part of a file, read while the request is sent.
  ///
  /// It is a stream with a length, which can be sent again: an upload in parts needs no copy of a part in memory. The
  /// bytes must stay as they are until the call ends. If the file does not have all of them, the send fails with
  /// ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - range: The bytes of the file, counted from 0; an empty range is a body without bytes.
  ///   - contentType: The media type.
  /// - Returns: The body.
  public static func file(_ url: URL, range: Range<Int64>, contentType: String? = nil) -> RequestBody {
    let length = range.upperBound.subtractingReportingOverflow(range.lowerBound)
    return .stream(contentType: contentType, length: length.overflow ? nil : length.partialValue) {
      ByteStream(FileChunks(url, range: range))
    }
  }

  /// Creates a body of a stream that can be created again for a further send.
  ///
  /// - Parameters:
  ///   - contentType: The media type.
  ///   - length: The number of bytes, if it is known.
  ///   - makeStream: Returns the stream from its beginning. It is called for every send, or once per call by a
  ///     transport that keeps the bytes that it has read.
  /// - Returns: The body.
  public static func stream(
    contentType: String? = nil, length: Int64? = nil, _ makeStream: @escaping @Sendable () -> ByteStream
  ) -> RequestBody {
    RequestBody(.stream(makeStream), contentType: contentType, length: length)
  }

  /// Creates a body of a stream that can be sent once.
  public static func oneShot(_ stream: ByteStream, contentType: String? = nil, length: Int64? = nil) -> RequestBody {
    RequestBody(.oneShot(OneShotStream(stream)), contentType: contentType, length: length)
  }

  /// Whether the body can be sent (again) now: `false` only for a one-shot stream of which reading has begun.
  public var isReplayable: Bool {
    guard case .oneShot(let stream) = content else { return true }
    return !stream.isConsumed
  }

  /// The bytes of a body in memory; `nil` for a file or a stream.
  public var data: Data? {
    guard case .data(let data) = content else { return nil }
    return data
  }

  /// Ends a one-shot stream that will not be sent; it counts as sent from then on.
  ///
  /// At the end of a call the client does so for every one-shot body of which reading has not begun. Other bodies need
  /// no ending.
  public func cancel() {
    if case .oneShot(let stream) = content { stream.cancel() }
  }

  /// Ends a one-shot stream of which reading has not begun; otherwise its reader ends it.
  func cancelUnlessConsumed() {
    if case .oneShot(let stream) = content { stream.cancelUnlessConsumed() }
  }
}

extension RequestBody {
  /// Returns the length of a file that will be sent as a body.
  ///
  /// - Parameter file: The URL of a regular file.
  /// - Returns: Its length in bytes.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it cannot be sent.
  public static func length(ofFile file: URL) throws -> Int64 { try FileChunks.length(of: file) }
}
