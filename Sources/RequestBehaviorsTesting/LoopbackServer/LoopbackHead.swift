#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A request's violation of HTTP; the server responds with an error and closes the connection.
struct LoopbackRefusal: Error {
  let status: Int
  let reason: String
}

/// The head of a request as it arrived, with the facts that the server needs.
///
/// It is parsed strictly (RFC 9112 §2–§6), so that a client's mistakes show. Strings are created only when they are
/// read.
struct LoopbackHead: Sendable {
  /// The framing of the body.
  enum Framing: Sendable, Hashable {
    case none
    case length(Int)
    case chunked
  }

  /// All bytes up to and including the empty line.
  let bytes: [UInt8]
  private(set) var method = 0..<0
  private(set) var target = 0..<0
  private(set) var isHTTP11 = true
  private(set) var framing = Framing.none
  private(set) var keepsAlive = true
  private(set) var expectsContinue = false
  private var hosts = 0

  init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    var start = try parseRequestLine()
    keepsAlive = isHTTP11
    while let line = nextLine(from: start), !line.isEmpty {
      try parseField(line)
      start = line.upperBound + 2
    }
    guard hosts == 1 || (!isHTTP11 && hosts == 0) else {
      throw LoopbackRefusal(status: 400, reason: "\(hosts) Host fields instead of one")
    }
  }

  var isHead: Bool { bytes[method].elementsEqual("HEAD".utf8) }

  /// The header fields in their order.
  var fields: [(name: String, value: String)] {
    var fields: [(String, String)] = []
    var start = (nextLine(from: 0)?.upperBound ?? bytes.count) + 2
    while let line = nextLine(from: start), !line.isEmpty {
      if let (name, value) = split(line) { fields.append((string(name), string(value))) }
      start = line.upperBound + 2
    }
    return fields
  }

  func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns the bytes of the line that begins at an index, without CRLF.
  private func nextLine(from start: Int) -> Range<Int>? {
    guard start < bytes.count, let end = index(of: 0x0A, in: start..<bytes.count), end > start else { return nil }
    return start..<(end - 1)
  }

  private func index(of byte: UInt8, in range: Range<Int>) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let found = memchr(base + range.lowerBound, Int32(byte), range.count) else {
        return nil
      }
      return UnsafeRawPointer(found) - base
    }
  }

  private mutating func parseRequestLine() throws -> Int {
    guard let line = nextLine(from: 0), let first = index(of: 0x20, in: line),
      let second = index(of: 0x20, in: (first + 1)..<line.upperBound), second > first + 1,
      isToken(line.lowerBound..<first), !bytes[(first + 1)..<second].contains(where: { $0 < 0x21 || $0 == 0x7F })
    else { throw LoopbackRefusal(status: 400, reason: "the request line is not 'method target version'") }
    method = line.lowerBound..<first
    target = (first + 1)..<second
    let version = (second + 1)..<line.upperBound
    isHTTP11 = bytes[version].elementsEqual("HTTP/1.1".utf8)
    guard isHTTP11 || bytes[version].elementsEqual("HTTP/1.0".utf8) else {
      let isHTTP = bytes[version].starts(with: "HTTP/".utf8)
      throw LoopbackRefusal(status: isHTTP ? 505 : 400, reason: "the version is neither HTTP/1.1 nor HTTP/1.0")
    }
    return line.upperBound + 2
  }

  /// Returns the name of a line's field and its value without the space around it; `nil` if the line is not a field.
  private func split(_ line: Range<Int>) -> (name: Range<Int>, value: Range<Int>)? {
    guard let colon = index(of: 0x3A, in: line) else { return nil }
    var start = colon + 1
    var end = line.upperBound
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return (line.lowerBound..<colon, start..<end)
  }

  private mutating func parseField(_ line: Range<Int>) throws {
    guard let (name, value) = split(line), isToken(name), !bytes[value].contains(where: { $0 == 0 || $0 == 0x0D })
    else {
      throw LoopbackRefusal(status: 400, reason: "a header line is not 'name: value'")
    }
    switch name.count {
    case 4 where matches(name, "host"): hosts += 1
    case 6 where matches(name, "expect"): expectsContinue = matches(value, "100-continue")
    case 10 where matches(name, "connection"): parseConnection(value)
    case 14 where matches(name, "content-length"): try parseLength(value)
    case 17 where matches(name, "transfer-encoding"): try parseEncoding(value)
    default: break
    }
  }

  private mutating func parseConnection(_ value: Range<Int>) {
    for option in string(value).lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
      if option == "close" { keepsAlive = false }
      if option == "keep-alive", !isHTTP11 { keepsAlive = true }
    }
  }

  private mutating func parseLength(_ value: Range<Int>) throws {
    var length = 0
    for byte in bytes[value] {
      guard byte >= 0x30, byte <= 0x39, length < Int.max / 100 else {
        length = -1
        break
      }
      length = length * 10 + Int(byte - 0x30)
    }
    guard !value.isEmpty, length >= 0, framing == .none || framing == .length(length) else {
      throw LoopbackRefusal(status: 400, reason: "Content-Length is not one number, or beside Transfer-Encoding")
    }
    framing = .length(length)
  }

  private mutating func parseEncoding(_ value: Range<Int>) throws {
    guard matches(value, "chunked") else {
      throw LoopbackRefusal(status: 501, reason: "the only transfer coding is chunked")
    }
    // RFC 9112 §6.1 and §6.3: both fields together, or the coding in HTTP/1.0, are treated as a smuggling attempt.
    guard framing == .none, isHTTP11 else {
      throw LoopbackRefusal(status: 400, reason: "Transfer-Encoding twice, beside Content-Length, or in HTTP/1.0")
    }
    framing = .chunked
  }

  private func matches(_ range: Range<Int>, _ lowercased: StaticString) -> Bool {
    guard range.count == lowercased.utf8CodeUnitCount else { return false }
    return (0..<range.count).allSatisfy { index in
      let byte = bytes[range.lowerBound + index]
      return (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == lowercased.utf8Start[index]
    }
  }

  private func isToken(_ range: Range<Int>) -> Bool {
    !range.isEmpty && bytes[range].allSatisfy { $0 < 0x80 && LoopbackHead.tokenBytes[Int($0)] }
  }

  private static let tokenBytes: [Bool] = {
    var table = [Bool](repeating: false, count: 128)
    let others = "!#$%&'*+-.^_`|~"
    for byte in others.utf8 { table[Int(byte)] = true }
    for byte in 0x30...0x39 { table[byte] = true }
    for byte in 0x41...0x5A {
      table[byte] = true
      table[byte + 0x20] = true
    }
    return table
  }()
}
