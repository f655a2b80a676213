import Foundation

/// The values of a body in which every line is a JSON text, as they arrive.
///
/// ```swift
/// for try await user: User in client.jsonLines(.get("export")) {
///   save(user)
/// }
/// ```
///
/// Each line is decoded by the configuration's decoder, where the caller is, so a value need not be `Sendable`. Empty
/// lines, and those of spaces and tabs, are skipped. A line that does not fit ends the values with
/// ``NetworkError/Code-swift.struct/decodingFailed``: the message has the number of the line, from 1, and shows of its
/// content what the ``Redactor`` lets through. The names for such bodies are NDJSON and JSON Lines.
public struct JSONLines<Value: Decodable>: AsyncSequence, Sendable {
  /// The value of a line.
  public typealias Element = Value

  let source: LineSource

  /// Returns the same values with another limit.
  ///
  /// - Parameter bytes: The most bytes of a line, not counting its end; 1 MiB by default.
  /// - Returns: The values.
  public func limit(_ bytes: Int) -> JSONLines { JSONLines(source: source.limited(to: bytes)) }

  /// Creates the iterator; a streamed body is iterated once.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LineReader(source)) }

  /// Delivers the values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var reader: LineReader

    /// Returns the value of the next line; `nil` at the end.
    ///
    /// - Throws: ``NetworkError``, `CancellationError` if the task is cancelled, and whatever the body throws.
    public mutating func next() async throws -> Value? {
      while let line = try await reader.next() {
        let bytes = reader.withBytes(of: line) { $0.isBlank ? nil : Data($0) }
        guard let bytes, let response = reader.response else { continue }
        do {
          return try ResponseDecoding(response).decode(Value.self, from: bytes)
        } catch {
          let error = NetworkError.decodingFailed(
            error, as: Value.self, response.part(bytes), place: "line \(reader.number)")
          reader.end(throwing: error)
          throw error
        }
      }
      return nil
    }
  }
}

extension NetworkClient {
  /// Sends a request and returns the values of a body in which every line is a JSON text.
  ///
  /// The request is sent when the first value is wanted, and again for every further iteration. The body is streamed: a
  /// value is there as soon as its line has come.
  ///
  /// - Parameter request: The request; the type of the values follows from where they go.
  /// - Returns: The values; iterating throws what the request fails with.
  public func jsonLines<Element: Decodable>(_ request: Request<Element>) -> JSONLines<Element> {
    let request = request.returning(NetworkResponse.self)
    return JSONLines(source: LineSource { try await self.stream(request) })
  }
}

extension NetworkResponse {
  /// The response with a part of its body that is JSON by itself, for an error that shows it.
  func part(_ bytes: Data) -> NetworkResponse {
    var part = self
    part.body = .data(bytes)
    part.headers["Content-Type"] = "application/json"
    return part
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether there is nothing but spaces and tabs.
  fileprivate var isBlank: Bool { allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
}
