public import Foundation

/// The body of a ``Request``, encoded when it is sent.
public struct RequestContent: Sendable {
  // One reference, because every step of a call copies the request, mostly without a body.
  private indirect enum Kind: Sendable {
    case encodable(any Encodable & Sendable, isJSON: Bool)
    case body(RequestBody)
    case made(any BodyMaker)
  }

  private let kind: Kind

  /// Creates a body that is made when it is sent.
  init(_ maker: any BodyMaker) { self.init(kind: .made(maker)) }

  private init(kind: Kind) { self.kind = kind }

  /// A value encoded as JSON, by the configuration's encoder if it makes JSON, else by a `JSONEncoder`.
  public static func json(_ value: some Encodable & Sendable) -> RequestContent {
    RequestContent(kind: .encodable(value, isJSON: true))
  }

  /// A value encoded by the configuration's encoder, in whatever format it makes.
  public static func encoding(_ value: some Encodable & Sendable) -> RequestContent {
    RequestContent(kind: .encodable(value, isJSON: false))
  }

  /// Form fields as `application/x-www-form-urlencoded`.
  public static func form(_ fields: Query) -> RequestContent {
    let data = Data(fields.percentEncoded.utf8)
    return .body(.data(data, contentType: "application/x-www-form-urlencoded"))
  }

  /// Text as `text/plain` in UTF-8.
  public static func text(_ text: String) -> RequestContent {
    .body(.data(Data(text.utf8), contentType: "text/plain; charset=utf-8"))
  }

  /// Bytes; by default `application/octet-stream`.
  public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestContent {
    .body(.data(data, contentType: contentType))
  }

  /// The contents of a file, read when the request is sent; by default `application/octet-stream`.
  public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestContent {
    .body(.file(url, contentType: contentType))
  }

  /// A part of a file, read when the request is sent; by default `application/octet-stream`.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - range: The bytes of the file, counted from 0. A file that does not have all of them fails the send.
  ///   - contentType: The media type.
  /// - Returns: The content.
  public static func file(
    _ url: URL, range: Range<Int64>, contentType: String = "application/octet-stream"
  ) -> RequestContent {
    .body(.file(url, range: range, contentType: contentType))
  }

  /// A stream that is created again for every send; by default `application/octet-stream`.
  ///
  /// - Parameters:
  ///   - contentType: The media type.
  ///   - length: The number of bytes, if it is known; a stream of another length fails the send.
  ///   - makeStream: Returns the stream from its beginning.
  /// - Returns: The content.
  public static func stream(
    contentType: String = "application/octet-stream", length: Int64? = nil,
    _ makeStream: @escaping @Sendable () -> ByteStream
  ) -> RequestContent {
    .body(.stream(contentType: contentType, length: length, makeStream))
  }

  /// A stream that can be sent once; by default `application/octet-stream`.
  ///
  /// Once its first chunk has been asked for, no retry, redirect or replay sends it again.
  ///
  /// - Parameters:
  ///   - stream: The stream.
  ///   - contentType: The media type.
  ///   - length: The number of bytes, if it is known; a stream of another length fails the send.
  /// - Returns: The content.
  public static func oneShot(
    _ stream: ByteStream, contentType: String = "application/octet-stream", length: Int64? = nil
  ) -> RequestContent {
    .body(.oneShot(stream, contentType: contentType, length: length))
  }

  /// Any body.
  public static func body(_ body: RequestBody) -> RequestContent { RequestContent(kind: .body(body)) }

  /// Ends the one-shot streams of which reading has not begun.
  func cancelUnlessConsumed() {
    switch kind {
    case .encodable: break
    case .body(let body): body.cancelUnlessConsumed()
    case .made(let maker): maker.cancelUnlessConsumed()
    }
  }

  /// Returns the body to send.
  ///
  /// - Parameters:
  ///   - encoder: The configuration's encoder.
  ///   - note: Receives the secrets that cannot be found in the body any more; by default they are dropped.
  /// - Returns: The body.
  /// - Throws: ``NetworkError`` of code `encodingFailed`, and the errors of a ``BodyMaker``.
  func makeBody(with encoder: any BodyEncoder, noting note: (String) -> Void = { _ in }) throws -> RequestBody {
    switch kind {
    case .body(let body): return body
    case .made(let maker): return try maker.makeBody(with: encoder, noting: note)
    case .encodable(let value, let isJSON):
      let isJSONEncoder = MediaType(encoder.contentType)?.isJSON == true
      let chosen: any BodyEncoder = isJSON && !isJSONEncoder ? JSONEncoder() : encoder
      do {
        return .data(try chosen.encode(value), contentType: chosen.contentType)
      } catch {
        throw NetworkError.encodingFailed(value, error)
      }
    }
  }
}

/// A body that is made of other contents when it is sent, such as a multipart form.
protocol BodyMaker: Sendable {
  /// Ends the one-shot streams of which reading has not begun.
  func cancelUnlessConsumed()

  /// Returns the body to send, and notes the secrets among the contents.
  func makeBody(with encoder: any BodyEncoder, noting note: (String) -> Void) throws -> RequestBody
}
