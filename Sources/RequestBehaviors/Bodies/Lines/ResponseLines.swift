import Foundation

/// The lines of a body as they arrive.
///
/// ```swift
/// let response = try await client.stream(.get("log"))
/// for try await line in response.lines {
///   print(line)
/// }
/// ```
///
/// A line ends with LF, CR LF or CR, which are not part of it. The last line may have no line ending. Each line is
/// decoded as UTF-8, and invalid bytes are replaced by U+FFFD. A byte order mark at the beginning of the body is
/// skipped. A line that is longer than ``limit(bytes:)`` ends the lines with
/// ``NetworkError/Code-swift.struct/lineTooLong``.
///
/// Ending the iteration early, for example by `break`, cancels a streamed body.
public struct ResponseLines: AsyncSequence, Sendable {
  /// A line without its line ending.
  public typealias Element = String

  let source: LineSource

  /// Returns the same lines with another limit.
  ///
  /// - Parameter bytes: The maximum number of bytes of a line, without its line ending; 1 MiB by default.
  /// - Returns: The lines.
  public func limit(bytes: Int) -> ResponseLines { ResponseLines(source: source.limited(to: bytes)) }

  /// Returns the values of lines of which each is JSON; see ``JSONLines``.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) -> JSONLines<Value> {
    JSONLines(source: source)
  }

  /// Creates the iterator.
  ///
  /// A streamed body can be iterated only once.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LineReader(source)) }

  /// Delivers the lines.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var reader: LineReader

    /// Returns the next line; `nil` at the end.
    ///
    /// - Throws: ``NetworkError``, `CancellationError` if the task is cancelled, or the error of the body.
    public mutating func next() async throws -> String? { try await next(isolation: #isolation) }

    /// Returns the next line in the isolation of the caller; `nil` at the end.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
      do {
        // Most lines have arrived together with an earlier one.
        if let line = try reader.nextArrived() { return text(of: line) }
        return try await reader.next().map(text)
      } catch {
        throw reader.errorMapping(error)
      }
    }

    private func text(of line: Range<Int>) -> String {
      reader.withBytes(of: line) { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension NetworkResponse {
  /// The lines of the body, in memory or streamed.
  public var lines: ResponseLines { ResponseLines(source: LineSource(errorMapping) { original }) }
}

/// The source of lines, and their maximum length.
struct LineSource: Sendable {
  let errorMapping: ErrorMapping?
  let open: @Sendable () async throws -> NetworkResponse
  private(set) var limit = LineSplitter.standardLimit

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - errorMapping: The mapping of the errors that leave the iteration.
  ///   - open: Returns the response, as behaviors get it.
  init(_ errorMapping: ErrorMapping?, _ open: @escaping @Sendable () async throws -> NetworkResponse) {
    self.errorMapping = errorMapping
    self.open = open
  }

  func limited(to bytes: Int) -> LineSource {
    var source = self
    source.limit = bytes
    return source
  }
}

/// Reads a body line by line.
///
/// It gets the response when the first line is requested.
struct LineReader {
  private let source: LineSource
  private var splitter: LineSplitter
  private var chunks: ByteStream.Iterator?
  private var isOver = false
  /// The number of the latest line, from 1.
  private(set) var number = 0
  /// The response whose body is read; `nil` before it has arrived.
  private(set) var response: NetworkResponse?
  /// The mapping of the errors that leave the iteration.
  var errorMapping: ErrorMapping? { source.errorMapping }

  init(_ source: LineSource) {
    self.source = source
    splitter = LineSplitter(limit: source.limit)
  }

  /// Returns the range of the next line if the whole line has arrived; `nil` if it must be waited for.
  mutating func nextArrived() throws -> Range<Int>? {
    guard !isOver else { return nil }
    do {
      return try splitter.next().map { count($0) }
    } catch {
      end(throwing: error)
      throw error
    }
  }

  /// Returns the range of the next line; `nil` at the end.
  mutating func next() async throws -> Range<Int>? {
    guard !isOver else { return nil }
    do {
      while true {
        if let line = try splitter.next() { return count(line) }
        guard let chunk = try await nextChunk() else { break }
        splitter.add(chunk)
      }
    } catch {
      end(throwing: error)
      throw error
    }
    isOver = true
    return splitter.last().map { count($0) }
  }

  /// Calls a closure with the bytes of the latest line.
  func withBytes<Result>(
    of line: Range<Int>, _ use: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try splitter.withBytes(of: line, use)
  }

  /// Ends the body, because a line could not be used.
  mutating func end(throwing error: any Error) {
    isOver = true
    if case .stream(let stream)? = response?.body { stream.cancel(throwing: error) }
  }

  private mutating func nextChunk() async throws -> Data? {
    if chunks == nil {
      let response = try await source.open()
      self.response = response
      chunks = response.bytes.makeAsyncIterator()
    }
    return try await chunks?.next()
  }

  private mutating func count(_ line: Range<Int>) -> Range<Int> {
    number += 1
    return line
  }
}
