import Foundation

/// Splits the bytes of a body into lines, however the bytes are divided into chunks.
///
/// A line ends with LF, CR LF or CR (WHATWG HTML §9.2.5). The last line may have no line ending. A line that ends with
/// CR is returned at once; an LF in the next chunk still belongs to it. A byte order mark at the beginning is skipped.
struct LineSplitter: Sendable {
  /// The default maximum number of bytes of a line: 1 MiB.
  static let standardLimit = 1_048_576

  private let limit: Int
  // The bytes that are not part of an earlier line begin at `start`.
  private var buffer: [UInt8] = []
  private var start = 0
  private var lineFeed = ByteSearch(UInt8(ascii: "\n"))
  private var carriageReturn = ByteSearch(UInt8(ascii: "\r"))
  private var hasBegun = false
  // Whether the latest line ended with a CR that was the last byte so far.
  private var skipsLineFeed = false

  /// Creates a splitter.
  ///
  /// - Parameter limit: The maximum number of bytes of a line, without its line ending.
  init(limit: Int = LineSplitter.standardLimit) { self.limit = max(0, limit) }

  /// Adds a chunk.
  mutating func add(_ chunk: Data) {
    if start > 0 {
      buffer.removeFirst(start)
      lineFeed.forget(start)
      carriageReturn.forget(start)
      start = 0
    }
    buffer.append(contentsOf: chunk)
  }

  /// Returns the range of the next whole line; `nil` if more bytes must come first.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/lineTooLong``, as soon as the line exceeds the
  ///   limit.
  mutating func next() throws -> Range<Int>? {
    guard skipByteOrderMark() else { return nil }
    if skipsLineFeed, start < buffer.count {
      if buffer[start] == UInt8(ascii: "\n") { start += 1 }
      skipsLineFeed = false
    }
    let feed = lineFeed.first(in: buffer, from: start)
    var end = feed
    if let other = carriageReturn.first(in: buffer, from: start), feed.map({ other < $0 }) ?? true { end = other }
    guard (end ?? buffer.count) - start <= limit else { throw NetworkError.lineTooLong(limit: limit) }
    guard let end else { return nil }
    let line = start..<end
    start = end + 1
    if end != feed {
      if start == buffer.count { skipsLineFeed = true } else if buffer[start] == UInt8(ascii: "\n") { start += 1 }
    }
    return line
  }

  /// Returns the range of the last line, which has no line ending; `nil` if there is no such line.
  func last() -> Range<Int>? { start < buffer.count ? start..<buffer.count : nil }

  /// Calls a closure with the bytes of a line.
  ///
  /// The range is valid until the next chunk is added.
  func withBytes<Result>(
    of line: Range<Int>, _ use: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try buffer.withUnsafeBufferPointer { try use(UnsafeBufferPointer(rebasing: $0[line])) }
  }

  /// Calls a closure with the bytes of a line and a value to change.
  ///
  /// The value may be a neighbor of the splitter in another value, which a closure could not change without a copy of
  /// the splitter.
  func withBytes<State, Result>(
    of line: Range<Int>, _ state: inout State, _ use: (inout State, UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try buffer.withUnsafeBufferPointer { try use(&state, UnsafeBufferPointer(rebasing: $0[line])) }
  }

  /// Skips a byte order mark.
  ///
  /// Returns false if the bytes so far may be the beginning of one.
  private mutating func skipByteOrderMark() -> Bool {
    if hasBegun { return true }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let beginning = buffer.prefix(3)
    guard mark.starts(with: beginning) else {
      hasBegun = true
      return true
    }
    guard beginning.count == 3 else { return false }
    hasBegun = true
    start = 3
    return true
  }
}

/// Finds the occurrences of a byte, and looks at each byte only once.
private struct ByteSearch: Sendable {
  private let byte: UInt8
  private var found: Int?
  private var searched = 0

  init(_ byte: UInt8) { self.byte = byte }

  mutating func first(in buffer: [UInt8], from start: Int) -> Int? {
    if let found, found >= start { return found }
    let from = max(start, searched)
    guard from < buffer.count else { return nil }
    found = buffer.withUnsafeBytes { $0.index(of: byte, from: from) }
    searched = found.map { $0 + 1 } ?? buffer.count
    return found
  }

  /// Adjusts the search after the beginning of the buffer was removed.
  mutating func forget(_ count: Int) {
    found = found.flatMap { $0 < count ? nil : $0 - count }
    searched = max(0, searched - count)
  }
}

extension NetworkError.Code {
  /// A line or an event of a body is longer than the limit.
  public static let lineTooLong = Self(rawValue: "lineTooLong")
}

extension NetworkError {
  static func lineTooLong(_ what: String = "line", limit: Int) -> NetworkError {
    NetworkError(
      .lineTooLong,
      "a \(what) of the body is longer than the limit of \(limit) bytes; raise it with limit(bytes:) if that is expected"
    )
  }
}
