#if os(Linux)
  import Foundation
  import RequestBehaviors

  // MARK: - The responses

  extension ResponseFuzz {
    /// The response of a number.
    static func response(_ number: Int) -> [UInt8] {
      var generator = SeededGenerator(seed: UInt64(number))
      let original = originals[number / 2 % originals.count].replacing("NUMBER", with: String(1_000_000 + number))
      var bytes = Array(original.utf8)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: return bytes
      case 1, 2:
        bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
        return bytes
      case 3:
        // A second response, or a part of it, without a request.
        return bytes + bytes.prefix(Int.random(in: 1...bytes.count, using: &generator))
      case 4, 5:
        replaceField(in: &bytes, &generator)
        return bytes
      default: break
      }
      for _ in 0..<Int.random(in: 1...4, using: &generator) { change(&bytes, &generator) }
      return bytes
    }

    private static func change(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
      if bytes.isEmpty { bytes = [0] }
      let position = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: bytes.remove(at: position)
      case 3: bytes.insert(UInt8(ascii: "\r"), at: position)
      case 4: bytes.insert(UInt8(ascii: "\n"), at: position)
      default:
        let end = min(position + Int.random(in: 1...40, using: &generator), bytes.count)
        bytes.insert(contentsOf: bytes[position..<end], at: position)
      }
    }

    /// Puts a field that tells, or seems to tell, where the response ends, after its status line.
    private static func replaceField(in bytes: inout [UInt8], _ generator: inout SeededGenerator) {
      let name = names.randomElement(using: &generator) ?? ""
      let value = values.randomElement(using: &generator) ?? ""
      let ends = ["\r\n", "\r\n", "\r\n", "\n", "\r\n\t", "\r\r\n", " \r\n"]
      let field = Array("\(name)\(value)\(ends.randomElement(using: &generator) ?? "")".utf8)
      let line = (bytes.firstIndex(of: 0x0A) ?? 0) + 1
      // Often in place of the existing one.
      if Bool.random(using: &generator), let next = bytes[line...].firstIndex(of: 0x0A) {
        bytes.removeSubrange(line...next)
      }
      bytes.insert(contentsOf: field, at: line)
    }

    private static let names = [
      "Content-Length: ", "Transfer-Encoding: ", "content-length:", "TRANSFER-ENCODING:\t", "Content-Length : ",
      "Transfer-Encoding:\r\n ", "Connection: ", "Content-Length:\r\n\t", "X-Content-Length: ",
      "Transfer-Encoding\u{B}: ",
    ]
    private static let values = [
      "0", "1", "5", "7", "8", "26", "33", "0x7", "+7", "-1", "7, 7", "7,8", "7 7", "07", "", " ", "7;", "seven",
      "9223372036854775807", "9223372036854775808", "99999999999999999999999", "18446744073709551623", "chunked",
      "Chunked", "chunked, chunked", "gzip", "gzip, chunked", "chunked, gzip", "identity", "chunked;a=b", "\"chunked\"",
      "xchunked", "chunkedx", "\u{B}chunked", "chunked\u{B}", ",chunked", "chunked,", "close", "keep-alive", "trailers",
    ]

    private static let originals = [
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 33\r\n\r\nNUMBERabcdefghijklmnopqrstuvwxyz",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nNUMBER\r\nA;x=y\r\nfghijklmno\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n7\r\nNUMBER\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nNUMBER",
      "HTTP/1.1 204 No Content\r\nX-A: 1\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n",
      "HTTP/1.1 304 Not Modified\r\nETag: \"NUMBER\"\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 7\r\n\r\nNUMBER",
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 7\r\n\r\nNUMBER",
      "HTTP/1.1 200 OK\r\nServer: x\r\nX-End: close\r\n\r\nNUMBER until the end",
      "HTTP/1.0 200 OK\r\nX-Old: 1\r\nContent-Length: 7\r\n\r\nNUMBER",
      "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 7\r\nConnection: keep-alive\r\n\r\nNUMBER",
      "HTTP/1.1 200 OK\nX-Bare: 1\n folded: 2\nContent-Length: 7\n\nNUMBER",
    ]
  }

  // MARK: - The judgement

  extension ResponseFuzz {
    /// The fault of a response; `nil` if it matches the bytes.
    func fault(of response: NetworkResponse, _ reading: WireReading) throws -> String? {
      switch reading {
      case .incomplete: return "succeeded although the end is missing"
      case .malformed(let reason, _): return "succeeded although it is malformed: \(reason)"
      case .response(let message), .lenient(let message):
        guard response.statusCode == message.status else { return "has the status \(response.statusCode)" }
        // Its encoding is not judged here.
        if message.field("content-encoding") == nil, try Array(response.data) != message.body {
          return "has the body \(try response.text.debugDescription)"
        }
        guard case .response = reading else { return nil }
        return message.fields.lazy.compactMap { fault(of: response.headers, message, $0.name) }.first
      }
    }

    private func fault(of headers: HeaderFields, _ message: WireReading.Message, _ name: String) -> String? {
      func normal(_ values: [String]) -> String { values.joined(separator: ",").filter { $0 != " " && $0 != "\t" } }
      let expected = normal(message.fields.filter { $0.name == name }.map(\.value))
      let found = normal(headers.values(for: name))
      return found == expected ? nil : "has \(name): \(found.debugDescription), not \(expected.debugDescription)"
    }

    /// The fault of an error; `nil` if it is right.
    func fault(of error: NetworkError, _ reading: WireReading) -> String? {
      // The server may have closed a kept connection at the moment of the request.
      if error.code == .connectionLost, error.progress == .init(.sent, reusedConnection: true) { return nil }
      let expected: Set<NetworkError.Code> =
        switch reading {
        case .response(let message): message.field("content-encoding") == nil ? [] : [.badResponse, .truncatedBody]
        case .lenient: [.badResponse, .truncatedBody, .connectionLost]
        case .incomplete(isWithinBody: true, let isLenient):
          isLenient ? [.truncatedBody, .badResponse] : [.truncatedBody]
        // The part received may already be malformed.
        case .incomplete: [.connectionLost, .badResponse]
        // A head that is not read to its end is cut off.
        case .malformed(_, let isLenient): isLenient ? [.badResponse, .connectionLost] : [.badResponse]
        }
      return expected.contains(error.code) ? nil : "failed as \(error.code): \(error.message)"
    }
  }
#endif
