import Foundation
import RequestBehaviors
import TestSupport
import Testing

extension NetworkRequest {
  /// Reads the body, as a transport would.
  func bodyData() async throws -> Data {
    switch body?.content {
    case nil: Data()
    case .data(let data): data
    case .file(let url): try Data(contentsOf: url)
    case .stream(let makeStream): try await makeStream().collect(upTo: .max)
    case .oneShot(let stream): try await stream.take().collect(upTo: .max)
    }
  }
}

/// A part of a form as a reader found it.
struct ReadPart: Equatable {
  /// The lines before the bytes, without those that end them.
  var head: [String]
  var content: Data
}

/// Reads forms by the letter of RFC 2046 §5.1.1: what is not a boundary on a line of its own, with CRLF, is content.
enum StrictMultipartReader {
  static func parts(of body: Data, contentType: String) throws -> [ReadPart] {
    let boundary = try #require(contentType.split(separator: "boundary=").last)
    let bytes = [UInt8]("\r\n".utf8) + body
    let delimiter = [UInt8]("\r\n--\(boundary)".utf8)
    var parts: [ReadPart] = []
    var pieces = split(bytes, at: delimiter)
    try #require(pieces.first == [], "there is a preamble")
    try #require(pieces.last == Array("--\r\n".utf8), "the form does not end with its last boundary")
    pieces = Array(pieces.dropFirst().dropLast())
    for piece in pieces {
      try #require(piece.starts(with: Array("\r\n".utf8)), "there is something beside a boundary")
      let headAndContent = split(Array(piece.dropFirst(2)), at: Array("\r\n\r\n".utf8), atMost: 1)
      try #require(headAndContent.count == 2, "a part has no empty line")
      let head = split(headAndContent[0], at: Array("\r\n".utf8)).map { String(decoding: $0, as: UTF8.self) }
      parts.append(ReadPart(head: head, content: Data(headAndContent[1])))
    }
    return parts
  }

  private static func split(_ bytes: [UInt8], at separator: [UInt8], atMost limit: Int = .max) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    var index = 0
    while index <= bytes.count - separator.count {
      if pieces.count < limit, bytes[index] == separator[0], bytes[index...].starts(with: separator) {
        pieces.append(Array(bytes[start..<index]))
        index += separator.count
        start = index
      } else {
        index += 1
      }
    }
    return pieces + [Array(bytes[start...])]
  }
}

#if os(Linux) || os(macOS)
  /// Reads forms with the email package of Python's standard library.
  enum PythonMultipartReader {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    static func isAvailable() async throws -> Bool {
      try await ChildProcess.run(environment, ["python3", "-c", "import email"]).status == 0
    }

    /// Reads many forms in one process.
    static func parts(of bodies: [(body: Data, contentType: String)]) async throws -> [[ReadPart]] {
      let input = try JSONEncoder().encode(bodies.map { [$0.contentType, $0.body.base64EncodedString()] })
      let result = try await ChildProcess.run(environment, ["python3", "-c", script], standardInput: input)
      try #require(result.status == 0)
      return try JSONDecoder().decode([[[String]]].self, from: result.output).map { form in
        try form.map { part in
          ReadPart(head: Array(part.dropLast()), content: try #require(Data(base64Encoded: part[part.count - 1])))
        }
      }
    }

    private static let script = #"""
      import base64, email, json, sys
      from email import policy
      forms = []
      for content_type, body in json.load(sys.stdin):
          head = ("MIME-Version: 1.0\r\nContent-Type: " + content_type + "\r\n\r\n").encode()
          message = email.message_from_bytes(head + base64.b64decode(body), policy=policy.compat32)
          assert not message.defects, message.defects
          parts = []
          payload = message.get_payload() if message.is_multipart() else []
          for part in payload:
              assert not part.defects, part.defects
              lines = [name + ": " + value for name, value in part.raw_items()]
              lines = [line.encode("ascii", "surrogateescape").decode("utf-8") for line in lines]
              content = base64.b64encode(part.get_payload(decode=True)).decode()
              parts.append(lines + [content])
          forms.append(parts)
      json.dump(forms, sys.stdout)
      """#
  }
#endif
