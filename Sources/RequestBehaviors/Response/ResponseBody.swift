public import Foundation

/// How a transport hands over the body of a response.
public enum ResponseDelivery: Sendable, Hashable {
  /// The response is returned with its whole body, which ``RequestOptions/bodyLimit`` limits.
  case buffered
  /// The response is returned with its head, and the body is a stream; nothing limits its length.
  ///
  /// A transport that has no streams returns the body in memory, limited.
  case streamed
}

/// What a response carries: bytes in memory, a file, or a stream.
public enum ResponseBody: Sendable {
  /// Bytes in memory.
  case data(Data)
  /// A file that holds the bytes; whoever receives it removes it.
  case file(URL)
  /// A stream that is read once; whoever drops it cancels it.
  case stream(ByteStream)

  /// No bytes.
  public static let empty = ResponseBody.data(Data())

  /// Ends a stream that will not be read; nothing for bytes and files.
  public func cancel() {
    if case .stream(let stream) = self { stream.cancel() }
  }
}
