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

  /// Returns a response whose body repeats the same bytes and is made while it is sent.
  ///
  /// Use it for bodies that are too large for a test's memory. `Content-Length` gives the whole length.
  public static func data(_ body: Data, repeated count: Int) -> LoopbackResponse {
    var response = data(body)
    response.repeats = min(max(count, 0), LoopbackResponse.longestBody / max(body.count, 1))
    return response
  }

  /// Returns a response whose body is made while it is sent, piece by piece, as `application/octet-stream`.
  ///
  /// Use it for bodies of any length when a test checks every byte:
  ///
  /// ```swift
  /// server.enqueue(
  ///   .generated(pieces: 1_024, of: 1_048_576) { index in
  ///     Data(repeating: UInt8(index % 256), count: 1_048_576)
  ///   })
  /// ```
  ///
  /// - Parameters:
  ///   - count: The number of pieces.
  ///   - length: The number of bytes in each piece; at least 1.
  ///   - isChunked: Whether each piece is sent as a chunk (RFC 9112 §7.1) instead of `Content-Length` for the whole.
  ///   - makePiece: Returns a piece by its index from 0, on the connection's thread. A longer piece is cut off, a
  ///     shorter one is filled with zeros.
  /// - Returns: The response.
  public static func generated(
    pieces count: Int, of length: Int, chunked isChunked: Bool = false, _ makePiece: @escaping @Sendable (Int) -> Data
  ) -> LoopbackResponse {
    let length = min(max(length, 1), longestBody)
    let pieces = LoopbackPieces(count: min(max(count, 0), longestBody / length), length: length, make: makePiece)
    return LoopbackResponse(
      status: 200, headers: ["Content-Type": "application/octet-stream"],
      framing: .generated(pieces, isChunked: isChunked))
  }

  /// Returns a redirect.
  ///
  /// - Parameters:
  ///   - location: The value of `Location`, sent unchanged.
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

  /// Returns a chunked response that ends after the given chunks with an invalid chunk size.
  public static func badChunk(after chunks: [String], size: String = "xyz") -> LoopbackResponse {
    LoopbackResponse(
      status: 200, framing: .chunked(chunks.map { Data($0.utf8) }, trailers: [:], badSize: size))
  }

  /// Returns a response whose body ends with the connection, without any length.
  public static func closeDelimited(_ text: String, status: Int = 200) -> LoopbackResponse {
    LoopbackResponse(status: status, body: Data(text.utf8), framing: .closeDelimited)
  }

  /// Returns a response whose bytes are sent unchanged, including the status line.
  ///
  /// - Parameters:
  ///   - text: The bytes that go over the wire.
  ///   - closes: Whether the connection is closed after it; by default it is.
  /// - Returns: The response; its status and header fields are not used.
  public static func raw(_ text: String, closes: Bool = true) -> LoopbackResponse {
    raw(Array(text.utf8), closes: closes)
  }

  /// Returns a response whose bytes are sent unchanged, including the status line.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that go over the wire.
  ///   - closes: Whether the connection is closed after it; by default it is.
  /// - Returns: The response; its status and header fields are not used.
  public static func raw(_ bytes: [UInt8], closes: Bool = true) -> LoopbackResponse {
    LoopbackResponse(status: 200, body: Data(bytes), framing: .raw(closes: closes))
  }

  /// A response of bytes that are not HTTP, after which the connection is closed.
  public static var garbage: LoopbackResponse { raw([0x16, 0x03, 0x01, 0xFF, 0x00, 0x0D, 0x0A, 0x7F, 0x00, 0x0A]) }
}

extension LoopbackResponse {
  /// Returns the response with one more header field.
  public func header(_ name: String, _ value: String) -> LoopbackResponse {
    var response = self
    response.headers.append(name, value)
    return response
  }

  /// Returns the response with another reason phrase; an empty one is allowed (RFC 9112 §4).
  public func reason(_ reason: String) -> LoopbackResponse {
    var response = self
    response.reason = reason
    return response
  }

  /// Returns the response with a fault at a point.
  ///
  /// ```swift
  /// // A reset instead of a response.
  /// server.enqueue(.status(200).fault(.reset, at: .request))
  /// server.enqueue(.text("0123456789").fault(.stall, at: .body(after: 5)))
  /// // A pooled connection that is stale when it is used again.
  /// server.enqueue(.text("ok").fault(.close, at: .nextRequest))
  /// ```
  public func fault(_ fault: LoopbackFault, at point: LoopbackPoint) -> LoopbackResponse {
    adding(.fault(fault), at: point)
  }

  /// Returns the response with a pause, in real time, at a point.
  ///
  /// Use ``held(by:at:)`` in a test that must not depend on time.
  ///
  /// - Parameters:
  ///   - duration: The pause; there is no pause if it is not positive.
  ///   - point: The point of the pause; by default before the first byte of the response.
  /// - Returns: The response with the pause added to its other effects.
  public func delayed(by duration: Duration, at point: LoopbackPoint = .request) -> LoopbackResponse {
    adding(.delay(duration), at: point)
  }

  /// Returns the response held at a point until a gate is open.
  ///
  /// - Parameters:
  ///   - gate: The gate that the test opens.
  ///   - point: The point of the hold; by default before the first byte of the response.
  /// - Returns: The response with the hold added to its other effects.
  public func held(by gate: LoopbackGate, at point: LoopbackPoint = .request) -> LoopbackResponse {
    adding(.hold(gate), at: point)
  }

  /// Returns the response with its body sent in pieces, with a pause in real time between them.
  ///
  /// - Parameters:
  ///   - bytes: The length of a piece; at least 1.
  ///   - interval: The pause.
  /// - Returns: The response with its body throttled; its head goes out at once.
  public func throttled(bytes: Int, every interval: Duration) -> LoopbackResponse {
    var response = self
    response.throttle = Throttle(bytes: min(max(bytes, 1), LoopbackResponse.longestBody), interval: interval)
    return response
  }

  private func adding(_ conduct: Effect.Conduct, at point: LoopbackPoint) -> LoopbackResponse {
    var response = self
    response.effects.append(Effect(point: point, conduct: conduct))
    return response
  }
}
