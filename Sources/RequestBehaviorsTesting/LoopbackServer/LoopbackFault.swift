/// How a ``LoopbackServer`` breaks off a response.
///
/// Where it does so is told by a ``LoopbackPoint``:
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
