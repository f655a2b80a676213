#if canImport(CRequestBehaviorsCurl)
  /// The end of a response's body according to its head (RFC 9112 §6.3), and its encoding.
  ///
  /// The lines are read as they arrive, because a connection must not be reused after a response whose end is in doubt.
  /// Lines that libcurl reads differently, or not at all, are refused.
  package struct BodyFraming {
    /// The end of a body.
    package enum End: Hashable {
      /// A number of bytes.
      case length(Int64)
      /// The last of its chunks.
      case chunks
      /// The end of the connection, or of the stream over HTTP/2.
      case connection
    }

    /// The value of `Content-Encoding` in lower case; several values are joined by commas.
    ///
    /// It is empty if the response has no such field.
    package private(set) var encoding = ""
    /// The length that all fields agree on.
    private var length: Int64?
    private var codings: [String] = []
    private var objection: String?
    /// Whether the last line was one of these fields, which must not continue in the next line.
    private var isWithinField = false

    /// Creates the framing of a head without fields.
    package init() {}

    /// The end of the body, if there is one.
    package var end: End {
      if isCoded { return .chunks }
      return length.map { .length($0) } ?? .connection
    }

    /// Whether the head has a length.
    package var hasLength: Bool { length != nil }

    /// Whether the head has a transfer coding, such as chunks.
    package var isCoded: Bool { !codings.isEmpty }

    /// Returns why the end is in doubt; `nil` if it is not.
    ///
    /// - Parameter isHTTP10: Whether the response is of HTTP/1.0, which has no transfer codings (RFC 9112 §6.1).
    /// - Returns: The reason, as the end of a sentence about the response.
    package func objection(isHTTP10: Bool) -> String? {
      if let objection { return objection }
      guard isCoded else { return nil }
      if hasLength { return "it has both Content-Length and Transfer-Encoding" }
      if isHTTP10 { return "it is of HTTP/1.0 and has Transfer-Encoding" }
      return codings == ["chunked"]
        ? nil : "its Transfer-Encoding is not chunked: \(codings.joined(separator: ", ").prefix(64))"
    }
  }

  // MARK: - Reading

  extension BodyFraming {
    /// Reads a line of the header, including its line ending.
    package mutating func add(_ line: UnsafeRawBufferPointer) {
      guard let first = line.first else { return }
      if first == 0x20 || first == 0x09 {
        // Such a line continues a field (RFC 9112 §5.2), but libcurl reads each line separately.
        if isWithinField { objection = "a field that tells its end or its encoding has more than one line" }
        return
      }
      isWithinField = false
      // A few characters are enough to skip nearly all other fields.
      guard line.count > 14 else { return }
      switch (first | 0x20, line[7], line[8] | 0x20) {
      case (0x63, 0x2D, 0x6C): if let value = value(of: "content-length:", line) { addLength(value) }
      case (0x63, 0x2D, 0x65):
        guard let value = value(of: "content-encoding:", line) else { return }
        encoding = ([encoding] + BodyFraming.members(value)).filter { !$0.isEmpty }.joined(separator: ",")
      case (0x74, _, 0x2D):
        if let value = value(of: "transfer-encoding:", line) { codings += BodyFraming.members(value) }
      default: break
      }
    }

    /// Returns the value of a field; `nil` if the line has another field.
    private mutating func value(of name: StaticString, _ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>?
    {
      let count = name.utf8CodeUnitCount
      guard line.count > count else { return nil }
      for index in 0..<count where line[index] | 0x20 != name.utf8Start[index] { return nil }
      isWithinField = true
      var value = line[count...]
      while let last = value.last, last == 0x0A || last == 0x0D { value.removeLast() }
      return BodyFraming.trimmed(value)
    }

    /// Removes outer spaces and tabs.
    ///
    /// libcurl skips further characters, which are not whitespace in HTTP (RFC 9110 §5.6.3).
    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
      var bytes = bytes
      while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
      while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
      return bytes
    }

    private static func members(_ value: Slice<UnsafeRawBufferPointer>) -> [String] {
      value.split(separator: 0x2C, omittingEmptySubsequences: false).map {
        String(decoding: trimmed($0), as: UTF8.self).lowercased()
      }
    }

    /// Adds the value of a `Content-Length`: one number, or a list of the same number (RFC 9110 §8.6).
    private mutating func addLength(_ value: Slice<UnsafeRawBufferPointer>) {
      for member in value.split(separator: 0x2C, omittingEmptySubsequences: false) {
        guard let number = BodyFraming.number(BodyFraming.trimmed(member)) else {
          objection =
            "its Content-Length is not a number, or is too great: \(String(decoding: value.prefix(64), as: UTF8.self))"
          return
        }
        if let length, length != number {
          objection = "it has more than one Content-Length: \(length), \(number)"
        }
        length = number
      }
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
      guard !digits.isEmpty else { return nil }
      var number: Int64 = 0
      for digit in digits {
        guard 0x30...0x39 ~= digit else { return nil }
        let (tens, isTooGreat) = number.multipliedReportingOverflow(by: 10)
        let (sum, overflows) = tens.addingReportingOverflow(Int64(digit - 0x30))
        if isTooGreat || overflows { return nil }
        number = sum
      }
      return number
    }
  }
#endif
