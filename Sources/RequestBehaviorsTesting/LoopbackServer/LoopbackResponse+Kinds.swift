public import Foundation
public import RequestBehaviors

extension LoopbackResponse {
  /// Returns a response without a body.
  public static func status(_ status: Int) -> LoopbackResponse { LoopbackResponse(status: status) }

  /// Returns a response whose body is the given JSON text, as `application/json`.
  public static func json(_ text: String, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Content-Type": "application/json"], body: Data(text.utf8))
  }

  /// Returns a response whose body is a value encoded as JSON by `JSONEncoder`, as `application/json`.
  ///
  /// - Throws: `EncodingError` if the value cannot be encoded.
  public static func json(encoding value: some Encodable, status: Int = 200) throws -> LoopbackResponse {
    LoopbackResponse(
      status: status, headers: ["Content-Type": "application/json"], body: try JSONEncoder().encode(value))
  }

  /// Returns a response whose body is a text, as `text/plain` in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
  }

  /// Returns a response whose body is an HTML page in UTF-8.
  public static func html(_ text: String, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Content-Type": "text/html; charset=utf-8"], body: Data(text.utf8))
  }

  /// Returns a response whose body is the bytes, as `application/octet-stream`.
  public static func data(_ body: Data, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Content-Type": "application/octet-stream"], body: body)
  }

  /// Returns a response whose body is the same bytes so many times over, made while it is sent.
  ///
  /// For bodies that are larger than a test wants in memory. `Content-Length` tells the whole length.
  public static func data(_ body: Data, repeated count: Int) -> LoopbackResponse {
    var response = data(body)
    response.repeats = max(count, 0)
    return response
  }

  /// Returns a redirect.
  ///
  /// - Parameters:
  ///   - location: The value of `Location`, sent as it is.
  ///   - status: The status code; by default 302.
  /// - Returns: The redirect, with an empty body.
  public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Location": location])
  }

  /// Returns a response in chunked transfer coding (RFC 9112 §7.1).
  ///
  /// An HTTP/1.0 client gets the same body ended by the end of the connection.
  ///
  /// - Parameters:
  ///   - chunks: The chunks; empty ones are left out, since a chunk of no bytes ends the body.
  ///   - status: The status code; by default 200.
  ///   - trailers: The fields after the last chunk; by default none.
  /// - Returns: The response, without a content type.
  public static func chunked(
    _ chunks: [String], status: Int = 200, trailers: HeaderFields = [:]
  ) -> LoopbackResponse {
    chunked(chunks.map { Data($0.utf8) }, status: status, trailers: trailers)
  }

  /// Returns a response in chunked transfer coding, like ``chunked(_:status:trailers:)-([String],_,_)``.
  public static func chunked(_ chunks: [Data], status: Int = 200, trailers: HeaderFields = [:]) -> LoopbackResponse {
    LoopbackResponse(status: status, framing: .chunked(chunks, trailers: trailers, badSize: nil))
  }

  /// Returns a chunked response that, after the given chunks, has a chunk size which is none, and ends there.
  public static func badChunk(after chunks: [String], size: String = "xyz") -> LoopbackResponse {
    LoopbackResponse(
      status: 200, framing: .chunked(chunks.map { Data($0.utf8) }, trailers: [:], badSize: size))
  }

  /// Returns a response whose body ends with the connection, without any length.
  public static func closeDelimited(_ text: String, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, body: Data(text.utf8), framing: .closeDelimited)
  }

  /// Returns a response that is sent as it is, status line and all.
  ///
  /// - Parameters:
  ///   - text: What goes over the wire.
  ///   - closes: Whether the connection is closed after it; by default it is.
  /// - Returns: The response; its status and header fields are not used.
  public static func raw(_ text: String, closes: Bool = true) -> LoopbackResponse {
    raw(Array(text.utf8), closes: closes)
  }

  /// Returns a response that is sent as it is, status line and all.
  ///
  /// - Parameters:
  ///   - bytes: What goes over the wire.
  ///   - closes: Whether the connection is closed after it; by default it is.
  /// - Returns: The response; its status and header fields are not used.
  public static func raw(_ bytes: [UInt8], closes: Bool = true) -> LoopbackResponse {
    LoopbackResponse(status: 200, body: Data(bytes), framing: .raw(closes: closes))
  }

  /// Bytes that are no HTTP, after which the connection is closed.
  public static var garbage: LoopbackResponse { raw([0x16, 0x03, 0x01, 0xFF, 0x00, 0x0D, 0x0A, 0x7F, 0x00, 0x0A]) }
}
