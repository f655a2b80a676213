/// A way in which a ``LoopbackServer`` breaks off a response.
///
/// A ``LoopbackPoint`` says where the fault happens:
///
/// ```swift
/// server.enqueue(.text("0123456789").fault(.close, at: .body(after: 4)))
/// ```
public enum LoopbackFault: Sendable, Hashable {
  /// Ends the connection in an orderly way (FIN): the client reads an end of file.
  case close
  /// Ends the connection with a reset (RST): the client's read fails with `ECONNRESET`.
  case reset
  /// Sends no more bytes but keeps the connection open until the client gives up or the server stops.
  case stall
}

/// A point in the exchange of a request and its response at which a ``LoopbackServer`` can misbehave or wait.
///
/// ```swift
/// server.enqueue(.text("hello").delayed(by: .milliseconds(20), at: .body))
/// ```
public struct LoopbackPoint: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case accept
    case request
    case head(Int)
    case body(Int)
    case end
    case nextRequest
  }

  let kind: Kind

  /// The point when a connection has been accepted and no byte has been read from it.
  ///
  /// Only a queued response can act here, if it is the next one in the queue at that moment: the handler is not called
  /// before a request has been read. On a connection that is already open, the point is the same as ``request``.
  public static let accept = LoopbackPoint(kind: .accept)

  /// The point when the whole request has been read and no byte of the response has been sent.
  public static let request = LoopbackPoint(kind: .request)

  /// The point after a number of bytes of the status line and header fields, always at least one byte before their end.
  public static func head(after bytes: Int) -> LoopbackPoint { LoopbackPoint(kind: .head(bytes)) }

  /// The point when the head has been sent and no byte of the body.
  public static let body = LoopbackPoint(kind: .body(0))

  /// The point after a number of bytes of the body, or after all of it if it is shorter.
  ///
  /// For a chunked response the bytes are counted as they go over the wire, with chunk sizes and line ends.
  public static func body(after bytes: Int) -> LoopbackPoint { LoopbackPoint(kind: .body(bytes)) }

  /// The point when the whole response has been sent, on a connection that was announced to stay open.
  public static let end = LoopbackPoint(kind: .end)

  /// The point when the first byte of the connection's next request has arrived.
  ///
  /// With ``LoopbackFault/close`` or ``LoopbackFault/reset`` it is the race that every client with a connection pool
  /// meets now and then: the server closes an idle connection just as the client uses it again.
  public static let nextRequest = LoopbackPoint(kind: .nextRequest)

  /// Returns the number of response bytes before the point; `nil` if the point is outside the response.
  func offset(head: Int, body: Int) -> Int? {
    switch kind {
    case .accept, .request: 0
    case .head(let count): min(max(count, 0), max(head - 1, 0))
    case .body(let count): head + min(max(count, 0), body)
    case .end: head + body
    case .nextRequest: nil
    }
  }
}
