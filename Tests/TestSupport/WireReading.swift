import Foundation

/// The bytes of a connection after one request as RFC 9112 reads them: the judge of a transport's reading.
///
/// It is written from the grammar, and shares no code with the library.
public enum WireReading: Sendable {
  /// A response that a client has to deliver just so.
  case response(Message)
  /// A response that breaks the grammar where a client may be lenient: it delivers it unchanged, or refuses it.
  case lenient(Message)
  /// The end is missing, of the head or of the body: an error, of a lost connection or a cut-off body. What there is of it
  /// may break the grammar.
  case incomplete(isWithinBody: Bool, isLenient: Bool)
  /// No client may take it for a response. What came before the fault may break the grammar too.
  case malformed(String, isLenient: Bool)

  /// A response.
  public struct Message: Sendable {
    /// The status.
    public var status: Int
    /// The names in lower case, and the values.
    public var fields: [(name: String, value: String)]
    /// The body without its framing, not decoded.
    public var body: [UInt8]
    /// Whether fields came after the body.
    public var hasTrailers = false

    /// The value of a field; the first one's.
    public func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
  }

  /// Reads what came over a connection that the server closed.
  ///
  /// - Parameters:
  ///   - bytes: All that came.
  ///   - isHead: Whether the request was `HEAD`.
  public init(_ bytes: [UInt8], isHead: Bool = false) {
    var reader = WireReader(bytes: bytes)
    do throws(WireReader.Problem) {
      let message = try reader.message(isHead: isHead)
      self = reader.isLenient ? .lenient(message) : .response(message)
    } catch {
      switch error {
      case .end: self = .incomplete(isWithinBody: reader.isWithinBody, isLenient: reader.isLenient)
      case .malformed(let reason): self = .malformed(reason, isLenient: reader.isLenient)
      }
    }
  }
}

private struct WireReader {
  enum Problem: Error {
    case end
    case malformed(String)
  }

  let bytes: [UInt8]
  var position = 0
  /// Whether the reading left the grammar.
  var isLenient = false
  var isWithinBody = false
  var hasTrailers = false

  mutating func message(isHead: Bool) throws(Problem) -> WireReading.Message {
    var hasInterimLength = false
    while true {
      let (version, status) = try statusLine()
      var fields: [(name: String, value: String)] = []
      var problem: Problem?
      while let line = try fieldLine() {
        do throws(Problem) { try add(line, to: &fields) } catch { problem = problem ?? error }
      }
      if let problem {
        // A client may skip an invalid field of an interim head.
        guard status < 200 else { throw problem }
        isLenient = true
      }
      guard status >= 200 else {
        if status == 101 { throw .malformed("101 without Upgrade") }
        if fields.contains(where: { $0.name == "transfer-encoding" }) { throw .malformed("coding of an interim head") }
        hasInterimLength = hasInterimLength || fields.contains { $0.name == "content-length" }
        continue
      }
      let end = try framing(fields, version)
      // A client that keeps the length of the interim head would be wrong, and one that refuses it is not.
      if hasInterimLength { isLenient = true }
      isWithinBody = true
      let hasNone = isHead || status == 204 || status == 304
      let body = hasNone ? [] : try body(end)
      return WireReading.Message(status: status, fields: fields, body: body, hasTrailers: hasTrailers)
    }
  }

  // MARK: The head

  /// A line without its end.
  private mutating func line() throws(Problem) -> ArraySlice<UInt8> {
    guard let end = bytes[position...].firstIndex(of: 0x0A) else { throw .end }
    var line = bytes[position..<end]
    position = end + 1
    // A line feed alone may end a line (RFC 9112 §2.2).
    if line.last == 0x0D { line.removeLast() } else { isLenient = true }
    return line
  }

  private mutating func statusLine() throws(Problem) -> (version: String, status: Int) {
    let start = bytes[position...].prefix(5)
    guard Array("HTTP/".utf8).starts(with: start) else { throw .malformed("no status line") }
    let line = try line().dropFirst(5)
    guard let space = line.firstIndex(of: 0x20) else { throw .malformed("status line") }
    let version = line[..<space]
    guard !version.isEmpty, version.allSatisfy({ $0 == 0x2E || WireReader.isDigit($0) }) else {
      throw .malformed("version")
    }
    let rest = line[(space + 1)...]
    let digits = rest.prefix(3)
    guard digits.count == 3, digits.allSatisfy(WireReader.isDigit), digits.first != 0x30,
      let status = Int(String(decoding: digits, as: UTF8.self))
    else { throw .malformed("status") }
    let reason = rest.dropFirst(3)
    // The space may be missing where there is no reason, as many servers have it.
    if reason.isEmpty { isLenient = true } else if reason.first != 0x20 { throw .malformed("status") }
    // Has no meaning, whatever its value.
    if reason.contains(where: WireReader.isControl) { isLenient = true }
    if status > 599 || !["1.0", "1.1"].contains(String(decoding: version, as: UTF8.self)) { isLenient = true }
    return (String(decoding: version, as: UTF8.self), status)
  }

  /// The next line of a field; `nil` for the empty one after them.
  private mutating func fieldLine() throws(Problem) -> ArraySlice<UInt8>? {
    let line = try line()
    return line.isEmpty ? nil : line
  }

  private mutating func add(
    _ line: ArraySlice<UInt8>, to fields: inout [(name: String, value: String)]
  ) throws(Problem) {
    if line.contains(0x0D) { throw .malformed("a carriage return in a field") }
    if line.contains(where: WireReader.isControl) { isLenient = true }
    if line.contains(0) { throw .malformed("a NUL in a field") }
    if let first = line.first, first == 0x20 || first == 0x09 {
      guard let last = fields.popLast() else { throw .malformed("a fold without a field") }
      // To be joined or refused (RFC 9112 §5.2).
      isLenient = true
      fields.append((last.name, last.value + " " + WireReader.trimmed(line)))
      return
    }
    guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else { throw .malformed("no field") }
    let name = line[..<colon]
    guard name.allSatisfy(WireReader.isTokenCharacter) else { throw .malformed("the name of a field") }
    fields.append((String(decoding: name, as: UTF8.self).lowercased(), WireReader.trimmed(line[(colon + 1)...])))
  }

  private static func trimmed(_ value: ArraySlice<UInt8>) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let start = value.drop(while: isSpace)
    let end = start.reversed().drop(while: isSpace).reversed()
    return String(bytes: Array(end), encoding: .utf8)
      ?? String(String.UnicodeScalarView(end.map { Unicode.Scalar($0) }))
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    "!#$%&'*+-.^_`|~".utf8.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte)
  }

  // MARK: The body

  enum End {
    case length(Int)
    case chunks, close
  }

  /// RFC 9112 §6.3.
  private mutating func framing(_ fields: [(name: String, value: String)], _ version: String) throws(Problem) -> End {
    func list(_ name: String) -> [String]? {
      let values = fields.filter { $0.name == name }.map(\.value)
      guard !values.isEmpty else { return nil }
      return values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
      }
    }
    let lengths = list("content-length")
    if let codings = list("transfer-encoding") {
      guard codings.map({ $0.lowercased() }) == ["chunked"] else { throw .malformed("Transfer-Encoding") }
      if version == "1.0" { throw .malformed("Transfer-Encoding in HTTP/1.0") }
      if lengths != nil { throw .malformed("both") }
      return .chunks
    }
    guard let lengths else { return .close }
    let numbers = lengths.map { !$0.isEmpty && $0.utf8.allSatisfy(WireReader.isDigit) ? Int($0) : nil }
    guard Set(numbers).count == 1, let length = numbers[0] else { throw .malformed("Content-Length") }
    if lengths.count > 1 { isLenient = true }
    return .length(length)
  }

  private mutating func body(_ end: End) throws(Problem) -> [UInt8] {
    switch end {
    case .close:
      defer { position = bytes.count }
      return Array(bytes[position...])
    case .length(let count): return Array(try take(count))
    case .chunks:
      var body: [UInt8] = []
      while true {
        let count = try chunkSize()
        if count == 0 { break }
        body += try take(count)
        let rest = try line()
        guard rest.allSatisfy({ $0 == 0x0D }) else { throw .malformed("the end of a chunk") }
        // Some read over more carriage returns than one: the chunk is the same.
        if !rest.isEmpty { isLenient = true }
      }
      // With the last chunk the body is complete (RFC 9112 §8); a client may throw away what follows, or miss it.
      do throws(Problem) {
        while let line = try fieldLine() {
          hasTrailers = true
          var fields: [(name: String, value: String)] = [("x", "")]
          try add(line, to: &fields)
        }
      } catch {
        isLenient = true
      }
      return body
    }
  }

  private mutating func take(_ count: Int) throws(Problem) -> ArraySlice<UInt8> {
    guard bytes.count - position >= count else { throw .end }
    defer { position += count }
    return bytes[position..<(position + count)]
  }

  /// RFC 9112 §7.1: digits, and extensions that mean nothing here.
  private mutating func chunkSize() throws(Problem) -> Int {
    let start = position
    let line: ArraySlice<UInt8>
    do throws(Problem) { line = try self.line() } catch {
      // Bytes that cannot begin a size are invalid, whatever follows.
      if start < bytes.count, !WireReader.isHexDigit(bytes[start]) { throw .malformed("a chunk's size") }
      throw error
    }
    let digits = line.prefix(while: WireReader.isHexDigit)
    guard !digits.isEmpty, let count = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw .malformed("a chunk's size")
    }
    if digits.count > 16 { isLenient = true }
    // Some clients skip an invalid extension: the size is the same.
    let rest = line[digits.endIndex...]
    if let first = rest.first, first != 0x3B { isLenient = true }
    if rest.contains(where: WireReader.isControl) { isLenient = true }
    return count
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
}
