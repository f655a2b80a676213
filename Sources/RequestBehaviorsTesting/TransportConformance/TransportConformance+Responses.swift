import Foundation
import RequestBehaviors

extension TransportConformance {
  /// Responses are returned as the server sends them.
  static let responses: [Case] = [
    Case("every status is returned with its body") { bench in
      for status in [200, 201, 203, 299, 300, 400, 401, 403, 404, 407, 418, 429, 500, 503, 511, 599] {
        bench.server.enqueue(.text("status \(status)", status: status))
        let response = try await bench.send(try bench.request())
        try bench.equal(response.statusCode, status, "status")
        try bench.equal(try response.text, "status \(status)", "body")
      }
    },
    Case("a challenge is returned with its body") { bench in
      for scheme in ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"1\"", "Bearer"] {
        bench.server.enqueue(.text("no", status: 401).header("WWW-Authenticate", scheme))
        let response = try await bench.send(try bench.request())
        try bench.equal(response.statusCode, 401, "status for \(scheme)")
        try bench.equal(try response.text, "no", "body for \(scheme)")
        try bench.equal(response.headers[.wwwAuthenticate], scheme, "WWW-Authenticate")
      }
      try bench.equal(bench.server.requestCount, 3, "requests")
    },
    Case("redirects are returned") { bench in
      for status in [301, 302, 303, 307, 308] {
        bench.server.enqueue(.redirect(to: "/elsewhere", status: status))
        let response = try await bench.send(try bench.request(.post, body: .data(Data("a".utf8))))
        try bench.equal(response.statusCode, status, "status")
        try bench.equal(response.headers[.location], "/elsewhere", "Location")
      }
      try bench.equal(bench.server.requests.map(\.path), Array(repeating: "/", count: 5), "requested paths")
    },
    Case("204, 304 and HEAD have no body") { bench in
      bench.server.enqueue(.status(204), .status(304).header("ETag", "\"a\""), .text("12345"))
      try bench.equal(try await bench.send(try bench.request()).data.count, 0, "bytes of a 204")
      let notModified = try await bench.send(try bench.request(headers: ["If-None-Match": "\"a\""]))
      try bench.equal(notModified.statusCode, 304, "status")
      try bench.equal(notModified.headers[.eTag], "\"a\"", "ETag of a 304")
      let head = try await bench.send(try bench.request(.head))
      try bench.equal(head.headers[.contentLength], "5", "Content-Length in answer to HEAD")
      try bench.equal(try head.data.count, 0, "bytes in answer to HEAD")
    },
    Case("bodies are whole, however they are framed") { bench in
      bench.server.enqueue(
        .text("fixed"), .chunked(["chu", "nked"]), .closeDelimited("closed"), .text(""),
        .text("slow").throttled(bytes: 1, every: .milliseconds(1)))
      for text in ["fixed", "chunked", "closed", "", "slow"] {
        try bench.equal(try await bench.send(try bench.request()).text, text, "body")
      }
    },
    Case("a body of a megabyte is whole") { bench in
      let piece = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0) })
      bench.server.enqueue(.data(piece, repeated: 1_024))
      let body = try await bench.send(try bench.request()).data
      try bench.equal(body.count, 1 << 20, "bytes")
      try bench.hold(body.suffix(1_024) == piece && body.prefix(1_024) == piece, "the bytes are not those sent")
    },
    Case("header fields are returned, names in any case, several values too") { bench in
      bench.server.enqueue(.status(200).header("x-one", "a, b").header("X-Two", "1").header("X-Two", "2"))
      let headers = try await bench.send(try bench.request()).headers
      try bench.equal(headers["X-ONE"], "a, b", "header X-One")
      try bench.equal(headers["x-two"]?.filter { $0 != " " }, "1,2", "header X-Two")
    },
    Case("interim responses are read over") { bench in
      let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      for delivery in [ResponseDelivery.buffered, .streamed] {
        // The connection is kept: the next request must not meet its end.
        bench.server.enqueue(.raw(hints + hints + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: false))
        let request = try bench.request { $0.delivery = delivery }
        let response = try await bench.send(request)
        try bench.equal(response.statusCode, 200, "status")
        try bench.equal(response.headers["Link"], nil, "a field of an interim response")
        try bench.equal(try await response.buffered().text, "ok", "body")
      }
    },
    Case("trailers are read over") { bench in
      bench.server.enqueue(.chunked(["a", "b"], trailers: ["X-Trailer": "1"]))
      try bench.equal(try await bench.send(try bench.request()).text, "ab", "body")
    },
    Case("the response names its request and its source") { bench in
      bench.server.enqueue(.status(200))
      let request = try bench.request(.post, "names?a=1", headers: ["X": "1"])
      let response = try await bench.send(request)
      try bench.equal(response.source, .network, "source")
      try bench.equal(response.request.url, request.url, "URL")
      try bench.equal(response.request.headers["X"], "1", "header")
      try bench.hold(response.request.call === request.call, "the response's request is of another call")
    },
    Case("no cookies are kept") { bench in
      bench.server.enqueue(.status(200).header("Set-Cookie", "a=b; Path=/"), .status(200))
      let first = try await bench.send(try bench.request())
      try bench.equal(first.headers[.setCookie], "a=b; Path=/", "Set-Cookie")
      _ = try await bench.send(try bench.request())
      try bench.equal(bench.server.requests.last?.headers[.cookie], nil, "Cookie of the next request")
    },
    Case("nothing is cached") { bench in
      for text in ["one", "two"] {
        bench.server.enqueue(.text(text).header("Cache-Control", "max-age=3600").header("ETag", "\"\(text)\""))
        try bench.equal(try await bench.send(try bench.request()).text, text, "body")
      }
      try bench.equal(bench.server.requests.last?.headers[.ifNoneMatch], nil, "If-None-Match of the next request")
    },
    Case("64 sends at once get each their response") { bench in
      let gate = LoopbackGate()
      let server = try LoopbackServer { LoopbackResponse.text($0.path).held(by: gate) }
      defer { server.stop() }
      let requests = try (0..<64).map { try bench.request(url: "\(server.baseURL)\($0)") }
      let tasks = requests.map { request in Task { try await bench.send(request) } }
      await gate.waitForArrivals(64)
      gate.open()
      for (index, task) in tasks.enumerated() {
        try bench.equal(try await task.value.text, "/\(index)", "answer to /\(index)")
      }
      try bench.equal(server.requestCount, 64, "requests")
    },
  ]
}
