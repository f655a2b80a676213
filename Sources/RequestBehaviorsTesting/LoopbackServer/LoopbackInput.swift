import Foundation

/// The bytes that arrive on a connection.
///
/// They are read in large pieces and taken in small ones, so that pipelined requests stay separate.
struct LoopbackInput {
  static let headLimit = 64 * 1_024
  private static let lineLimit = 8 * 1_024
  private static let pipelineLimit = 1_024 * 1_024

  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
  private var start = 0
  private var end = 0
  /// Whether the client has ended its side of the connection.
  private(set) var hasEnded = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Whether all bytes that were read have been taken.
  var isEmpty: Bool { start == end }

  /// Whether so many bytes wait to be taken that no more should be read.
  var isFull: Bool { end - start >= LoopbackInput.pipelineLimit }

  /// Drops the bytes that were read and not taken.
  mutating func discard() { start = end }

  /// Reads the available bytes, and waits for the first one; returns false at the end.
  mutating func fill() -> Bool {
    if hasEnded { return false }
    if start == end { (start, end) = (0, 0) }
    if end == buffer.count { makeRoom() }
    let count = buffer.withUnsafeMutableBytes {
      LoopbackSocket.receive(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: $0[end...]))
    }
    if count <= 0 { hasEnded = true } else { end += count }
    return count > 0
  }

  private mutating func makeRoom() {
    if start > 0 {
      buffer.removeSubrange(..<start)
      (start, end) = (0, end - start)
    }
    buffer.append(contentsOf: repeatElement(0, count: max(buffer.count, 16 * 1_024)))
  }

  /// Takes the bytes up to and including the next empty line; `nil` if the client closed before sending any.
  mutating func takeHead() throws -> [UInt8]? {
    var searched = 0
    while true {
      if let length = try headLength(searched: &searched) {
        guard length <= LoopbackInput.headLimit else { throw LoopbackInput.headTooLarge }
        defer { start += length }
        return Array(buffer[start..<(start + length)])
      }
      guard end - start <= LoopbackInput.headLimit else { throw LoopbackInput.headTooLarge }
      guard fill() else {
        if start == end { return nil }
        throw LoopbackRefusal(status: 400, reason: "the connection ended inside the head")
      }
    }
  }

  private static let headTooLarge = LoopbackRefusal(status: 431, reason: "the head is longer than \(headLimit) bytes")

  private mutating func headLength(searched: inout Int) throws -> Int? {
    while let line = firstIndex(of: 0x0A, from: start + searched) {
      let length = line - start
      guard length >= 1, buffer[line - 1] == 0x0D else {
        throw LoopbackRefusal(status: 400, reason: "a line of the head ends without CR")
      }
      if length >= 3, buffer[line - 2] == 0x0A { return length + 1 }
      searched = length + 1
      // RFC 9112 §2.2: an empty line before the request is ignored.
      if length == 1 { (start, searched) = (start + 2, 0) }
    }
    searched = max(searched, end - start)
    return nil
  }

  private func firstIndex(of byte: UInt8, from index: Int) -> Int? {
    guard index < end else { return nil }
    return buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, let found = memchr(base + index, Int32(byte), end - index) else { return nil }
      return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
  }

  /// Takes a number of bytes and appends them.
  mutating func take(_ count: Int, into data: inout Data) throws {
    var missing = count
    while missing > 0 {
      if start == end, !fill() { throw LoopbackRefusal(status: 400, reason: "the connection ended inside the body") }
      let length = min(missing, end - start)
      data.append(contentsOf: buffer[start..<(start + length)])
      start += length
      missing -= length
    }
  }

  /// Takes a line and returns it without its CRLF.
  mutating func takeLine() throws -> [UInt8] {
    while true {
      if let line = firstIndex(of: 0x0A, from: start) {
        guard line > start, buffer[line - 1] == 0x0D else {
          throw LoopbackRefusal(status: 400, reason: "a line of the chunked body ends without CR")
        }
        defer { start = line + 1 }
        return Array(buffer[start..<(line - 1)])
      }
      guard end - start <= LoopbackInput.lineLimit else {
        throw LoopbackRefusal(status: 400, reason: "a line of the chunked body is too long")
      }
      guard fill() else { throw LoopbackRefusal(status: 400, reason: "the connection ended inside the body") }
    }
  }

  /// Takes a chunked body with its trailers (RFC 9112 §7.1), which are dropped.
  mutating func takeChunks(limit: Int) throws -> Data {
    var data = Data()
    while true {
      let size = try LoopbackInput.chunkSize(of: takeLine())
      if size == 0 { break }
      guard size <= limit - data.count else { throw LoopbackInput.bodyTooLarge(limit) }
      try take(size, into: &data)
      guard try takeLine().isEmpty else {
        throw LoopbackRefusal(status: 400, reason: "a chunk is longer than its size")
      }
    }
    while try !takeLine().isEmpty {}
    return data
  }

  static func bodyTooLarge(_ limit: Int) -> LoopbackRefusal {
    LoopbackRefusal(status: 413, reason: "the body is longer than \(limit) bytes")
  }

  static func chunkSize(of line: [UInt8]) throws -> Int {
    let digits = line.prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }
    let text = String(decoding: digits, as: UTF8.self)
    guard digits.count <= 15, digits.first != 0x2B, digits.first != 0x2D, let size = Int(text, radix: 16) else {
      throw LoopbackRefusal(status: 400, reason: "a chunk size is not a hexadecimal number")
    }
    return size
  }
}
