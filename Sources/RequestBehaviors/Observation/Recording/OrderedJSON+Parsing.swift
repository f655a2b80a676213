package import Foundation

extension OrderedJSON {
  /// A place where a text is no JSON.
  package struct SyntaxError: Error, CustomStringConvertible {
    /// The offset in bytes.
    package let offset: Int

    package var description: String { "byte \(offset) is not JSON" }
  }

  /// Reads JSON (RFC 8259), nested at most 200 levels deep.
  ///
  /// - Throws: ``SyntaxError``.
  package init(parsing data: Data) throws {
    var parser = Parser(bytes: Array(data))
    self = try parser.document()
  }

  private struct Parser {
    let bytes: [UInt8]
    var index = 0
    var depth = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
      // Editors on Windows may write a byte order mark.
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    mutating func document() throws -> OrderedJSON {
      let value = try value()
      skipSpace()
      guard index == bytes.count else { throw SyntaxError(offset: index) }
      return value
    }

    private mutating func value() throws -> OrderedJSON {
      skipSpace()
      guard index < bytes.count, depth < 200 else { throw SyntaxError(offset: index) }
      depth += 1
      defer { depth -= 1 }
      switch bytes[index] {
      case UInt8(ascii: "{"): return try object()
      case UInt8(ascii: "["): return try array()
      case UInt8(ascii: "\""): return .string(try string())
      case UInt8(ascii: "t"): return try word("true", .bool(true))
      case UInt8(ascii: "f"): return try word("false", .bool(false))
      case UInt8(ascii: "n"): return try word("null", .null)
      default: return try number()
      }
    }

    private mutating func object() throws -> OrderedJSON {
      index += 1
      var members: [Member] = []
      if take("}") { return .object([]) }
      repeat {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw SyntaxError(offset: index) }
        let name = try string()
        guard take(":") else { throw SyntaxError(offset: index) }
        members.append(Member(name, try value()))
      } while take(",")
      guard take("}") else { throw SyntaxError(offset: index) }
      return .object(members)
    }

    private mutating func array() throws -> OrderedJSON {
      index += 1
      var elements: [OrderedJSON] = []
      if take("]") { return .array([]) }
      repeat { elements.append(try value()) } while take(",")
      guard take("]") else { throw SyntaxError(offset: index) }
      return .array(elements)
    }

    private mutating func string() throws -> String {
      let start = index + 1
      index = start
      while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
        guard bytes[index] >= 0x20 else { throw SyntaxError(offset: index) }
        index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard index < bytes.count else { throw SyntaxError(offset: bytes.count) }
      let content = bytes[start..<index].withUnsafeBufferPointer { JSONText.unescape($0) }
      index += 1
      return String(decoding: content, as: UTF8.self)
    }

    private mutating func word(_ word: String, _ value: OrderedJSON) throws -> OrderedJSON {
      guard bytes[index...].starts(with: word.utf8) else { throw SyntaxError(offset: index) }
      index += word.utf8.count
      return value
    }

    private mutating func number() throws -> OrderedJSON {
      let start = index
      while index < bytes.count, bytes[index].isNumberByte { index += 1 }
      let text = String(decoding: bytes[start..<index], as: UTF8.self)
      guard Double(text) != nil, text.first != "+" else { throw SyntaxError(offset: start) }
      return .number(text)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      skipSpace()
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    private mutating func skipSpace() {
      while index < bytes.count, bytes[index].isJSONWhitespace { index += 1 }
    }
  }
}
