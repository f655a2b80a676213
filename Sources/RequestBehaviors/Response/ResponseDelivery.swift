/// How a transport delivers the body of a response.
public enum ResponseDelivery: Sendable, Hashable {
  /// The response is returned with its whole body in memory, limited by ``RequestOptions/bodyLimit``.
  case buffered
  /// The response is returned as soon as its head arrives, and its body is a stream of unlimited length.
  ///
  /// A transport without streams returns the body in memory, limited.
  case streamed
}
