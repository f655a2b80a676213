public import Foundation

/// The body of a response: bytes in memory, a file, or a stream.
///
/// ``NetworkResponse/bytes`` has the chunks of each kind:
///
/// ```swift
/// for try await chunk in response.bytes { file.write(chunk) }
/// ```
public enum ResponseBody: Sendable {
  /// Bytes in memory.
  case data(Data)
  /// A file with the bytes; the receiver removes it.
  case file(URL)
  /// A stream that is read once; dropping it cancels it.
  case stream(ByteStream)

  /// No bytes.
  public static let empty = ResponseBody.data(Data())

  /// Ends a stream that will not be read; does nothing for bytes and files.
  public func cancel() {
    if case .stream(let stream) = self { stream.cancel() }
  }
}
