public import Foundation

/// What a request carries: bytes, a file, or a stream.
///
/// Bytes, files and streams from a factory can be sent again, by a retry, a redirect or a replay with a fresh token. A
/// one-shot stream cannot: once its first chunk has been asked for, whoever would send it again gives up and the outcome
/// at hand stands. Until then it can: a transport that asks for chunks as it sends them has read nothing when a
/// connection is refused. ``URLSessionTransport`` reads a stream before it connects.
public struct RequestBody: Sendable {
  /// Where the bytes come from.
  public enum Content: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// The contents of a file.
    case file(URL)
    /// A stream that is made anew for every send.
    case stream(@Sendable () -> ByteStream)
    /// A stream that can be sent once.
    case oneShot(OneShotStream)
  }

  /// Where the bytes come from.
  public let content: Content

  /// The media type, sent as `Content-Type` unless the request sets its own.
  public let contentType: String?

  /// The number of bytes; `nil` for a stream that does not say.
  public let length: Int64?

  /// What tells a stream from others, for what is remembered of it; `nil` for bodies that need nothing remembered.
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

  /// Creates a body of a file's contents, read when the request is sent.
  public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
    RequestBody(.file(url), contentType: contentType, length: nil)
  }

  /// Creates a body of a stream that can be made again for a further send.
  ///
  /// - Parameters:
  ///   - contentType: The media type.
  ///   - length: The number of bytes, if it is known.
  ///   - makeStream: Makes the stream from its beginning; called for every send, or once for a call by a transport that
  ///     keeps what it has read.
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

  /// Whether the body can be sent (again) now: false only for a one-shot stream that somebody has begun to read.
  public var isReplayable: Bool {
    guard case .oneShot(let stream) = content else { return true }
    return !stream.isConsumed
  }

  /// The bytes of a body in memory; `nil` for a file or a stream.
  public var data: Data? {
    guard case .data(let data) = content else { return nil }
    return data
  }

  /// Ends a one-shot stream that will not be sent: it counts as sent from then on.
  ///
  /// A client does so for every one-shot body of a call that nobody has begun to read by the end of the call. Other bodies
  /// need no ending.
  public func cancel() {
    if case .oneShot(let stream) = content { stream.cancel() }
  }

  /// Ends a one-shot stream that nobody has begun to read; whoever did ends it.
  func cancelUnlessConsumed() {
    if case .oneShot(let stream) = content { stream.cancelUnlessConsumed() }
  }
}

extension RequestBody {
  /// Returns the number of bytes in a file that is to be sent as a body.
  ///
  /// - Parameter file: The URL of a regular file.
  /// - Returns: Its length in bytes.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it cannot be sent.
  public static func length(ofFile file: URL) throws -> Int64 {
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
