public import Foundation

/// The body of a ``Request``, encoded when it is sent.
public struct RequestContent: Sendable {
  // One reference, because every step of a call copies the request, mostly without a body.
  private indirect enum Kind: Sendable {
    case encodable(any Encodable & Sendable, isJSON: Bool)
    case body(RequestBody)
    case multipart([MultipartPart])
  }

  private let kind: Kind

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

  /// Fields and files as `multipart/form-data` (RFC 7578), as an HTML form sends them.
  ///
  /// Files are read while they are sent. The length is sent if all parts have one. The form can be sent again, by a
  /// retry or a redirect, if all parts can. A missing file fails the call with
  /// ``NetworkError/Code-swift.struct/bodyUnreadable`` before anything is sent. A file that changes while it is sent
  /// fails the send.
  public static func multipart(_ parts: [MultipartPart]) -> RequestContent { RequestContent(kind: .multipart(parts)) }

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
    case .multipart(let parts): for part in parts { part.content.cancelUnlessConsumed() }
    }
  }

  /// Returns the body to send.
  ///
  /// - Throws: ``NetworkError`` of code `encodingFailed`, and for a form the errors of ``MultipartEncoding``.
  func makeBody(with encoder: any BodyEncoder) throws -> RequestBody {
    switch kind {
    case .body(let body): return body
    case .multipart(let parts):
      var generator = RandomSource()
      return try MultipartEncoding(parts, encoder: encoder, using: &generator).body
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

/// Turns values into request bodies; `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
  /// The media type of the bytes, sent as `Content-Type`.
  var contentType: String { get }

  /// Returns the bytes of a value.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Turns response bodies into values; `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
  /// The media types that it reads, such as `application/json` or `*/*+json`; sent as `Accept` (without wildcards).
  var contentTypes: [String] { get }

  /// Returns the value of the bytes.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONEncoder: BodyEncoder {
  /// The media type `application/json`.
  public var contentType: String { "application/json" }
}

extension JSONDecoder: BodyDecoder {
  /// JSON under its registered names: `application/json`, `text/json` and every type with the suffix `+json`.
  public var contentTypes: [String] { ["application/json", "text/json", "*/*+json"] }
}
