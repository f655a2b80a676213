public import Foundation

/// The body of a ``Request``, encoded when it is sent.
public struct RequestContent: Sendable {
  private enum Kind: Sendable {
    case encodable(any Encodable & Sendable, isJSON: Bool)
    case body(RequestBody)
  }

  private let kind: Kind

  /// A value encoded as JSON, by the configuration's encoder if that makes JSON.
  public static func json(_ value: some Encodable & Sendable) -> RequestContent {
    RequestContent(kind: .encodable(value, isJSON: true))
  }

  /// A value encoded by the configuration's encoder, whatever that makes.
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

  /// Any body, streams among them.
  public static func body(_ body: RequestBody) -> RequestContent { RequestContent(kind: .body(body)) }

  /// Ends a one-shot stream that nobody has taken.
  func cancelUnlessTaken() {
    if case .body(let body) = kind { body.cancelUnlessTaken() }
  }

  /// Returns the body to send.
  ///
  /// - Throws: ``NetworkError`` of code `encodingFailed`.
  func makeBody(with encoder: any BodyEncoder) throws -> RequestBody {
    switch kind {
    case .body(let body): return body
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
