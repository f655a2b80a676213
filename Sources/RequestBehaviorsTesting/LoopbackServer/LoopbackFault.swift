/// How a ``LoopbackServer`` breaks off a response.
///
/// A ``LoopbackPoint`` says where it does so:
///
/// ```swift
/// server.enqueue(.text("0123456789").fault(.close, at: .body(after: 4)))
/// ```
public enum LoopbackFault: Sendable, Hashable {
  /// Ends the connection in an orderly way (FIN): the client reads an end of file.
  case close
  /// Ends the connection with a reset (RST): the client's read fails with `ECONNRESET`.
  case reset
  /// Sends nothing more but keeps the connection open until the client gives up or the server stops.
  case stall
}

/// A moment in the exchange of a request and its response, at which a ``LoopbackServer`` does something else than
/// answer.
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

  /// When a connection has been accepted and nothing been read from it.
  ///
  /// Only a queued response can act here, when it is the next one of the queue at that moment: before a request has
  /// been read, a handler is not asked. On a connection that is open already it acts like ``request``.
  public static let accept = LoopbackPoint(kind: .accept)

  /// When the whole request has been read and nothing of the response been sent.
  public static let request = LoopbackPoint(kind: .request)

  /// When a number of bytes of the status line and header fields have been sent, always at least one byte short of all.
  public static func head(after bytes: Int) -> LoopbackPoint { LoopbackPoint(kind: .head(bytes)) }

  /// When the head has been sent and nothing of the body.
  public static let body = LoopbackPoint(kind: .body(0))

  /// When a number of bytes of the body have been sent, or all if it is shorter.
  ///
  /// For a chunked response the bytes are counted as they go over the wire, with chunk sizes and line ends.
  public static func body(after bytes: Int) -> LoopbackPoint { LoopbackPoint(kind: .body(bytes)) }

  /// When the whole response has been sent, on a connection that was said to stay open.
  public static let end = LoopbackPoint(kind: .end)

  /// When the first byte of the connection's next request has arrived.
  ///
  /// With ``LoopbackFault/close`` or ``LoopbackFault/reset`` it is the race that every client with a connection pool
  /// runs now and then: the server gives up an idle connection just as the client uses it again.
  public static let nextRequest = LoopbackPoint(kind: .nextRequest)

  /// How many bytes of the response have been sent by then; `nil` if the point is outside the response.
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
