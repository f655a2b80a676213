import Foundation

/// The values of a body in which every line is a JSON text, as they arrive.
///
/// ```swift
/// for try await user: User in client.jsonLines(.get("export")) {
///   save(user)
/// }
/// ```
///
/// The configuration's decoder decodes each line in the caller's isolation, so a value need not be `Sendable`. Lines
/// that are empty, or contain only spaces and tabs, are skipped. A line that cannot be decoded ends the values with
/// ``NetworkError/Code-swift.struct/decodingFailed``. The message has the number of the line, from 1, and its content
/// as redacted by the ``Redactor``. Such bodies are known as NDJSON and JSON Lines.
public struct JSONLines<Value: Decodable>: AsyncSequence, Sendable {
  /// The value of a line.
  public typealias Element = Value

  let source: LineSource

  /// Returns the same values with another limit.
  ///
  /// - Parameter bytes: The maximum number of bytes of a line, without its line ending; 1 MiB by default.
  /// - Returns: The values.
  public func limit(bytes: Int) -> JSONLines { JSONLines(source: source.limited(to: bytes)) }

  /// Creates the iterator.
  ///
  /// A streamed body can be iterated only once.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LineReader(source)) }

  /// Delivers the values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var reader: LineReader

    /// Returns the value of the next line; `nil` at the end.
    ///
    /// - Throws: ``NetworkError``, `CancellationError` if the task is cancelled, or the error of the body.
    public mutating func next() async throws -> Value? { try await next(isolation: #isolation) }

    /// Returns the value of the next line in the isolation of the caller; `nil` at the end.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
      do { return try await nextValue() } catch { throw reader.errorMapping(error) }
    }

    private mutating func nextValue() async throws -> Value? {
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
  /// The request is sent when the first value is requested, and again for every further iteration. The body is
  /// streamed: a value is delivered as soon as its line has arrived.
  ///
  /// - Parameter request: The request; the type of the values is inferred from their use.
  /// - Returns: The values; iterating them throws the error of the request.
  public func jsonLines<Element: Decodable>(_ request: Request<Element>) -> JSONLines<Element> {
    let request = request.returning(NetworkResponse.self)
    return JSONLines(source: LineSource(errorMapping(of: request)) { try await self.originalStream(request) })
  }
}

extension NetworkResponse {
  /// Returns the response with one JSON part of its body, for an error that shows that part.
  func part(_ bytes: Data) -> NetworkResponse {
    var part = self
    part.body = .data(bytes)
    part.headers["Content-Type"] = "application/json"
    return part
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether there are only spaces and tabs.
  fileprivate var isBlank: Bool { allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
}
