#if canImport(CRequestBehaviorsCurl)
  import Foundation
  package import RequestBehaviors

  /// The parsed head of a response.
  ///
  /// The parser is lenient where HTTP allows it, and strict where one message could pass for two.
  package struct ResponseHead {
    /// The reason why a head is refused.
    package struct Objection: Error, Hashable {
      /// The fault, as the end of a sentence about the response.
      package let reason: String
    }

    /// The status code.
    package let statusCode: Int
    /// The fields in their order, names as they were written.
    package let headers: HeaderFields

    /// Reads a status line and the fields after it.
    ///
    /// - Throws: ``Objection``.
    package init(_ bytes: [UInt8]) throws(Objection) {
      let result: Result<(Int, [HeaderFields.Field]), Objection> = bytes.withUnsafeBytes { bytes in
        Result { () throws(Objection) in
          guard let status = ResponseHead.status(of: bytes) else {
            throw Objection(reason: "its status line is invalid")
          }
          let end = bytes.index(of: 0x0A, from: 0).map { $0 + 1 } ?? bytes.count
          return (status, try ResponseHead.fields(in: UnsafeRawBufferPointer(rebasing: bytes[end...])))
        }
      }
      let (status, fields) = try result.get()
      statusCode = status
      headers = HeaderFields(fields)
    }

    /// Reads the fields of a trailer.
    ///
    /// - Throws: ``Objection``.
    package static func trailers(_ bytes: [UInt8]) throws(Objection) -> HeaderFields {
      let result: Result<[HeaderFields.Field], Objection> = bytes.withUnsafeBytes { bytes in
        Result { () throws(Objection) in try fields(in: bytes) }
      }
      return HeaderFields(try result.get())
    }

    /// Returns the status of a status line: three digits after the version and a space (RFC 9112 §4); `nil` for any
    /// other line.
    ///
    /// The reason phrase and the space before it may be missing.
    package static func status(of bytes: UnsafeRawBufferPointer) -> Int? {
      guard bytes.count >= 10, let space = bytes.prefix(12).firstIndex(of: 0x20), space >= 6 else { return nil }
      for byte in bytes[5..<space] where byte != 0x2E && !isDigit(byte) { return nil }
      guard space + 3 < bytes.count else { return nil }
      var status = 0
      for byte in bytes[(space + 1)...(space + 3)] {
        guard isDigit(byte) else { return nil }
        status = status * 10 + Int(byte - 0x30)
      }
      let end = bytes[(space + 4)...]
      guard let next = end.first else { return status >= 100 ? status : nil }
      // A bare carriage return does not end a line (RFC 9112 §2.2).
      guard next == 0x20 || next == 0x0A || next == 0x0D && end.dropFirst().first ?? 0x0A == 0x0A else { return nil }
      return status >= 100 ? status : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  }

  // MARK: - Fields

  extension ResponseHead {
    private static func fields(in bytes: UnsafeRawBufferPointer) throws(Objection) -> [HeaderFields.Field] {
      var fields: [HeaderFields.Field] = []
      fields.reserveCapacity(16)
      var start = 0
      while start < bytes.count {
        // A line may end with a bare line feed (RFC 9112 §2.2).
        let end = bytes.index(of: 0x0A, from: start) ?? bytes.count
        let hasReturn = end > start && bytes[end - 1] == 0x0D
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<(hasReturn ? end - 1 : end)])
        start = end + 1
        if let first = line.first, HTTPSyntax.isSpace(first) {
          try unfold(line, into: &fields)
        } else if !line.isEmpty {
          fields.append(try field(line))
        }
      }
      return fields
    }

    private static func field(_ line: UnsafeRawBufferPointer) throws(Objection) -> HeaderFields.Field {
      guard let colon = line.index(of: 0x3A, from: 0), colon > 0 else {
        throw Objection(reason: "a line of its header is not a field")
      }
      let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
      // A space before the colon hides a field from a stricter parser (RFC 9112 §5.1).
      guard name.allSatisfy(HTTPSyntax.isTokenCharacter) else {
        throw Objection(reason: "the name of a header field is invalid")
      }
      return HeaderFields.Field(string(name), try value(line, from: colon + 1))
    }

    /// Adds a line that begins with a space to the field before it (RFC 9112 §5.2).
    private static func unfold(
      _ line: UnsafeRawBufferPointer, into fields: inout [HeaderFields.Field]
    ) throws(Objection) {
      guard let last = fields.popLast() else { throw Objection(reason: "its header begins with a space") }
      fields.append(HeaderFields.Field(last.name, last.value + " " + (try value(line, from: 0))))
    }

    private static func value(_ line: UnsafeRawBufferPointer, from start: Int) throws(Objection) -> String {
      var (start, end) = (start, line.count)
      while start < end, HTTPSyntax.isSpace(line[start]) { start += 1 }
      while start < end, HTTPSyntax.isSpace(line[end - 1]) { end -= 1 }
      let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
      // Another parser might end the field at either (RFC 9110 §5.5).
      if value.index(of: 0x0D, from: 0) != nil || value.index(of: 0, from: 0) != nil {
        throw Objection(reason: "a header field has a bare carriage return or a NUL in it")
      }
      return string(value)
    }

    /// Decodes text as UTF-8, or else as ISO 8859-1, which older servers use.
    private static func string(_ bytes: UnsafeRawBufferPointer) -> String {
      if bytes.reduce(0, |) < 0x80 { return String(decoding: bytes, as: UTF8.self) }
      return String(bytes: bytes, encoding: .utf8) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
#endif
