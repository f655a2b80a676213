import Foundation
import RequestBehaviors

extension TransportConformance {
  /// The case on which the others about connections depend.
  static let arrivals: [Case] = [
    Case("a request reaches the server that it names") { bench in
      let request = try bench.request()
      bench.server.enqueue(.status(200))
      // Neither a response that never ends nor an error after the arrival matters here.
      let arrival = PendingResult<String>()
      let watch = Task {
        await bench.server.waitForRequests(1)
        arrival.end(.success("the request arrived"))
      }
      defer { watch.cancel() }
      let end = try await arrival.run {
        do {
          return "send(_:) returned \(try await bench.transport.send(request))"
        } catch {
          return "send(_:) threw \(error)"
        }
      }
      try bench.hold(
        bench.server.requestCount > 0,
        "\(end), and no request came to \(bench.server.baseURL); for a transport that responds itself, exclude "
          + "cases(about: .connections, excludedBecause: …)")
    }
  ]

  /// Requests arrive unchanged.
  static let requests: [Case] = [
    Case("methods arrive as they are") { bench in
      for method in [RequestMethod.get, .head, .post, .put, .patch, .delete, .options, .query, "REPORT"] {
        let found = try await bench.received(try bench.request(method)).method
        try bench.equal(found, method, "method")
      }
    },
    Case("a method in lower case arrives in lower case") { bench in
      let found = try await bench.received(try bench.request("get")).method
      try bench.equal(found, "get", "method")
    },
    Case("path and query arrive as they are, and no fragment") { bench in
      let found = try await bench.received(try bench.request(.get, "a%2Fb/%20+!$&'()*,;=:@~?q=%2B+a%26&x&y=#z"))
      try bench.equal(found.target, "/a%2Fb/%20+!$&'()*,;=:@~?q=%2B+a%26&x&y=", "target")
    },
    Case("header fields arrive") { bench in
      let headers: HeaderFields = [
        "X-Plain": "a, b; c=\"d\"", "X-Empty": "", "X-Text": "grün", "User-Agent": "conformance/1",
        "Accept": "text/plain", "Accept-Language": "de", "Cookie": "a=b",
      ]
      let found = try await bench.received(try bench.request(headers: headers)).headers
      for field in headers { try bench.equal(found.values(for: field.name), [field.value], "header \(field.name)") }
    },
    Case("several values of one name arrive") { bench in
      var headers = HeaderFields()
      headers.append("X-Several", "1")
      headers.append("X-Several", "2")
      let found = try await bench.received(try bench.request(headers: headers)).headers["X-Several"]
      try bench.equal(found?.filter { $0 != " " }, "1,2", "header X-Several")
    },
    Case("a body of bytes arrives with its length") { bench in
      let bytes = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
      for method in [RequestMethod.post, .put, .patch, .delete, .query] {
        let found = try await bench.received(try bench.request(method, body: .data(bytes)))
        try bench.hold(found.body == bytes, "\(method): \(found.body.count) bytes arrived, not as they are")
        try bench.equal(found.headers[.contentLength], "70000", "\(method): Content-Length")
      }
    },
    Case("an empty body and no body arrive as no bytes") { bench in
      for body in [RequestBody.data(Data()), nil] {
        let found = try await bench.received(try bench.request(.post, body: body))
        try bench.equal(found.body.count, 0, "bytes")
      }
    },
    Case("a body of a file arrives") { bench in
      let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
      let bytes = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
      try bytes.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for _ in 1...2 {
        let found = try await bench.received(try bench.request(.post, body: .file(file))).body
        try bench.hold(found == bytes, "\(found.count) bytes arrived, not the file's \(bytes.count)")
      }
    },
    Case("a file that cannot be read is not sent") { bench in
      let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
      let missing = try bench.request(.post, body: .file(file))
      try await bench.failure(of: missing, .bodyUnreadable, because: "there is no such file")
      let remote = try bench.request(.post, body: .file(bench.server.baseURL))
      try await bench.failure(of: remote, .bodyUnreadable, because: "the body's URL is not that of a file")
      try bench.equal(bench.server.requestCount, 0, "requests")
    },
    Case("a part of a file arrives with its length") { bench in
      let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
      let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
      try bytes.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for part in [0..<7, 7..<650_000, 699_999..<700_000, 5..<5] {
        let body = RequestBody.file(file, range: Int64(part.lowerBound)..<Int64(part.upperBound))
        let found = try await bench.received(try bench.request(.put, body: body))
        try bench.hold(found.body == bytes[part], "\(part): \(found.body.count) bytes arrived, not as they are")
        try bench.equal(found.headers[.contentLength], "\(part.count)", "\(part): Content-Length")
      }
    },
    Case("a part that a file does not have is not sent") { bench in
      let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
      try Data(count: 100).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for part: Range<Int64> in [90..<101, -1..<5, .min..<0] {
        let request = try bench.request(.put, body: .file(file, range: part))
        try await bench.failure(of: request, .bodyUnreadable, because: "the file has no bytes \(part)")
      }
      try bench.equal(bench.server.requestCount, 0, "requests")
    },
    Case("a replayable stream arrives, each time anew") { bench in
      let body = RequestBody.stream { ByteStream(chunks: ["one", "", "two"].map { Data($0.utf8) }) }
      for _ in 1...2 {
        let found = try await bench.received(try bench.request(.post, body: body)).text
        try bench.equal(found, "onetwo", "body")
      }
    },
    Case("a long stream arrives") { bench in
      let chunk = Data(repeating: 0x61, count: 65_536)
      let body = RequestBody.stream { ByteStream(chunks: Array(repeating: chunk, count: 32)) }
      let found = try await bench.received(try bench.request(.post, body: body)).body
      try bench.hold(found == Data(repeating: 0x61, count: 2 << 20), "\(found.count) bytes arrived, wanted \(2 << 20)")
    },
    Case("a one-shot stream arrives, and is refused the second time") { bench in
      let body = RequestBody.oneShot(ByteStream(chunks: [Data("once".utf8)]))
      let request = try bench.request(.post, body: body)
      try bench.equal(try await bench.received(request).text, "once", "body")
      try await bench.failure(of: request, .bodyConsumed, because: "the stream has been taken")
      try bench.equal(bench.server.requestCount, 1, "requests")
    },
    Case("a stream that fails fails the send") { bench in
      struct Broken: Error {}
      let body = RequestBody.stream { MockStream.make([Data("half".utf8)], failingWith: Broken()) }
      let request = try bench.request(.post, body: body)
      bench.server.enqueue(.status(200))
      try await bench.failure(of: request, .bodyUnreadable, because: "the stream fails")
      try bench.equal(bench.server.requestCount, 0, "complete requests")
    },
    Case("a stream of another length than was announced is not sent") { bench in
      for length in [2, 6] as [Int64] {
        let body = RequestBody.stream(length: length) { ByteStream(chunks: [Data("four".utf8)]) }
        let request = try bench.request(.post, body: body)
        try await bench.failure(of: request, .bodyUnreadable, because: "the stream has 4 bytes instead of \(length)")
      }
      try bench.equal(bench.server.requestCount, 0, "complete requests")
    },
  ]

  /// Requests that must not be sent are refused before the first byte.
  static let refusals: [Case] = [
    Case("an illegal method is refused", .refusals) { bench in
      let methods = ["", "GE T", "GET\r\nX-Injected: 1", "GET\0", "GÉT"].map { RequestMethod(rawValue: $0) }
      try await refuse(methods.map { try bench.request($0) }, .invalidRequest, bench)
    },
    Case("an illegal header name is refused", .refusals) { bench in
      let names = ["", "X Y", "X:", "X\r\nX-Injected: 1\r\nY", "X\n", "X\0", "Grün"]
      try await refuse(names.map { try bench.request(headers: [$0: "1"]) }, .invalidRequest, bench)
    },
    Case("an illegal header value is refused", .refusals) { bench in
      let values = ["1\r\nX-Injected: 1", "1\r", "1\n2", "\0", " 1", "1\t", "\u{7F}"]
      try await refuse(values.map { try bench.request(headers: ["X": $0]) }, .invalidRequest, bench)
    },
    Case("framing headers are refused", .refusals) { bench in
      let fields: [HeaderFields] = [
        ["Content-Length": "1"], ["content-length": "0"], ["Transfer-Encoding": "chunked"], ["Host": "example.com"],
      ]
      let requests = try fields.map { try bench.request(.post, headers: $0, body: .data(Data("abc".utf8))) }
      try await refuse(requests, .invalidRequest, bench)
    },
    Case("a body without a meaning is refused", .refusals) { bench in
      let methods = [RequestMethod.get, .head, .trace]
      try await refuse(methods.map { try bench.request($0, body: .data(Data("a".utf8))) }, .invalidRequest, bench)
    },
    Case("a URL that is not plain http or https is refused", .refusals) { bench in
      let port = bench.server.port
      let texts = [
        "http://user:secret@127.0.0.1:\(port)/", "file:///etc/hosts", "ftp://127.0.0.1:\(port)/", "/relative",
      ]
      try await refuse(texts.map { try bench.request(url: $0) }, .invalidURL, bench)
    },
  ]

  private static func refuse(
    _ requests: [NetworkRequest], _ code: NetworkError.Code, _ bench: ConformanceBench
  ) async throws {
    for request in requests {
      try await bench.failure(
        of: request, code, because: "\(String(reflecting: request.method.rawValue)) \(request.url) must not be sent")
    }
    try bench.equal(bench.server.connectionCount, 0, "connections")
  }
}
