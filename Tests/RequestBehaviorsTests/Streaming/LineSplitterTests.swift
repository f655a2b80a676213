import Foundation
import TestSupport
import Testing

// The splitter is not public: what it does with every way to cut a body into chunks is quicker to see without a client.
@testable import RequestBehaviors

/// How bytes become lines.
@Suite(.limited) struct LineSplitterTests {
  /// Returns the lines of a body that comes in chunks.
  static func lines(_ chunks: [Data], limit: Int = 1_000) throws -> [String] {
    var splitter = LineSplitter(limit: limit)
    var lines: [String] = []
    func text(_ line: Range<Int>) -> String { splitter.withBytes(of: line) { String(decoding: $0, as: UTF8.self) } }
    for chunk in chunks {
      splitter.add(chunk)
      while let line = try splitter.next() { lines.append(text(line)) }
    }
    if let line = splitter.last() { lines.append(text(line)) }
    return lines
  }

  @Test func `lines that were read are released`() throws {
    var splitter = LineSplitter()
    for _ in 0..<1_000 {
      splitter.add(Data("a line\nand the beginning".utf8))
      while try splitter.next() != nil {}
    }
    // One chunk at most, and the line that it continues.
    let buffer = try #require(Mirror(reflecting: splitter).descendant("buffer") as? [UInt8])
    #expect(buffer.count < 50)
  }

  @Test(
    arguments: [
      ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("a\n\nb\n", ["a", "", "b"]),
      ("a\r\nb\r\n", ["a", "b"]), ("a\rb\r", ["a", "b"]), ("a\r\r\nb\n\r", ["a", "", "b", ""]), ("\r\n\r\n", ["", ""]),
      ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\u{FEFF}", []), ("é\n日本", ["é", "日本"]),
    ])
  func `lines end with LF, CR LF or CR wherever the body is cut`(text: String, expected: [String]) throws {
    let body = Data(text.utf8)
    #expect(try LineSplitterTests.lines([body]) == expected)
    #expect(try LineSplitterTests.lines(body.map { Data([$0]) }) == expected)
    for cut in 0...body.count {
      #expect(try LineSplitterTests.lines([body.prefix(cut), body.dropFirst(cut)]) == expected, "cut at \(cut)")
    }
  }

  @Test func `a line is as long as the limit and no longer, wherever the body is cut`() throws {
    let body = Data("1234\r\n12345".utf8)
    for cut in 0...body.count {
      let chunks = [body.prefix(cut), body.dropFirst(cut)]
      #expect(try LineSplitterTests.lines(chunks, limit: 5) == ["1234", "12345"])
      var splitter = LineSplitter(limit: 4)
      var lines: [Range<Int>] = []
      let error = #expect(throws: NetworkError.self) {
        for chunk in chunks {
          splitter.add(chunk)
          while let line = try splitter.next() { lines.append(line) }
        }
      }
      #expect(error?.code == .lineTooLong)
      #expect(error?.message.contains("4 bytes") == true)
      #expect(lines.count == 1)
    }
  }

  @Test func `a line has up to 1 MiB unless another limit is set`() throws {
    var splitter = LineSplitter()
    splitter.add(Data(repeating: 0x61, count: 1_048_576))
    var line = try splitter.next()
    #expect(line == nil)
    splitter.add(Data("\n".utf8))
    line = try splitter.next()
    #expect(line?.count == 1_048_576)
    splitter.add(Data(repeating: 0x61, count: 1_048_577))
    #expect(throws: NetworkError.self) { try splitter.next() }
  }

  @Test func `random bodies give the same lines as splitting them whole`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      let count = Int.random(in: 0...40, using: &random)
      let bytes = (0..<count).map { _ in Array("ab\n\r".utf8)[Int.random(in: 0...3, using: &random)] }
      let text = String(decoding: bytes, as: UTF8.self)
      var expected = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if expected.last == "" { expected.removeLast() }
      var rest = Data(text.utf8)
      var chunks: [Data] = []
      while !rest.isEmpty {
        let length = Int.random(in: 0...5, using: &random)
        chunks.append(rest.prefix(length))
        rest = rest.dropFirst(length)
      }
      #expect(try LineSplitterTests.lines(chunks) == expected, "\(text.debugDescription)")
    }
  }
}
