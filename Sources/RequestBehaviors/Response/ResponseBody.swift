public import Foundation

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
