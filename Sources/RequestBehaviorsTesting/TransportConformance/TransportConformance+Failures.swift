import Foundation
import RequestBehaviors

extension TransportConformance {
  /// Failures have different codes, and nothing is sent twice.
  static let failures: [Case] = [
    Case("a refused connection is an error of code cannotConnect") { bench in
      let request = try bench.request()
      bench.server.stop()
      try await bench.failure(of: request, .cannotConnect, because: "no server listens")
    },
    Case("a connection lost before the response is an error of code connectionLost") { bench in
      for fault in [LoopbackFault.reset, .close] {
        bench.server.enqueue(.status(200).fault(fault, at: .request))
        let request = try bench.request()
        try await bench.failure(of: request, .connectionLost, because: "there was a \(fault) at the request")
      }
    },
    Case("a connection reset within the body is an error of code connectionLost") { bench in
      bench.server.enqueue(.text("12345").fault(.reset, at: .body(after: 2)))
      try await bench.failure(of: try bench.request(), .connectionLost, because: "there was a reset after 2 bytes")
    },
    Case("a body that ends too early is an error of code truncatedBody") { bench in
      bench.server.enqueue(
        .text("12345").fault(.close, at: .body(after: 2)), .chunked(["123", "45"]).fault(.close, at: .body(after: 10)))
      for framing in ["Content-Length", "the last chunk"] {
        let request = try bench.request()
        try await bench.failure(of: request, .truncatedBody, because: "the connection ended before \(framing) says")
      }
    },
    Case("a bad chunk is an error of code badResponse") { bench in
      bench.server.enqueue(.badChunk(after: ["one"]))
      try await bench.failure(of: try bench.request(), .badResponse, because: "a chunk has no legal size")
    },
    Case("contradicting lengths are an error of code badResponse") { bench in
      for lengths in ["Content-Length: 5\r\nContent-Length: 3", "Content-Length: 3\r\nContent-Length: 5"] {
        bench.server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(lengths)\r\n\r\n12345"))
        try await bench.failure(of: try bench.request(), .badResponse, because: "there are two lengths")
      }
    },
    Case("a length that no number can hold is an error of code badResponse") { bench in
      bench.server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n12345"))
      try await bench.failure(of: try bench.request(), .badResponse, because: "no body is that long")
    },
    Case("a transfer coding other than chunks is an error of code badResponse") { bench in
      for coding in ["gzip", "identity", "chunkedx", "chunked, chunked"] {
        bench.server.enqueue(
          .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n5\r\n12345\r\n0\r\n\r\n"))
        try await bench.failure(of: try bench.request(), .badResponse, because: "no request asked for \(coding)")
      }
    },
    Case("a response that is not HTTP is an error of code badResponse") { bench in
      bench.server.enqueue(.garbage)
      try await bench.failure(of: try bench.request(), .badResponse, because: "the response is not HTTP")
    },
    Case("a head that ends too early is an error") { bench in
      bench.server.enqueue(.text("12345").fault(.close, at: .head(after: 20)))
      let request = try bench.request()
      try await bench.failure(of: request, .connectionLost, .badResponse, because: "the head is cut off")
    },
    Case("the transport works on after failures") { bench in
      bench.server.enqueue(.garbage, .status(200).fault(.reset, at: .request), .text("fine"))
      for _ in 1...2 { _ = try? await bench.send(try bench.request()) }
      try bench.equal(try await bench.send(try bench.request()).text, "fine", "body")
    },
    Case("a send that fails is not repeated") { bench in
      for method in [RequestMethod.get, .post, .put, .delete] {
        let body: RequestBody? = method.forbidsBody ? nil : .data(Data("a".utf8))
        bench.server.enqueue(.status(200).fault(.close, at: .request))
        let count = bench.server.requestCount
        _ = try? await bench.send(try bench.request(method, body: body))
        try bench.equal(bench.server.requestCount, count + 1, "\(method) requests for one send")
        try bench.equal(bench.server.queuedResponseCount, 0, "responses left")
      }
    },
    Case("a response of status 408, 421, 425, 429 or 503 is not repeated") { bench in
      for status in [408, 421, 425, 429, 503] {
        bench.server.enqueue(.status(status).header("Retry-After", "0"))
        let response = try await bench.send(try bench.request(.post, body: .data(Data("a".utf8))))
        try bench.equal(response.statusCode, status, "status")
      }
      try bench.equal(bench.server.requestCount, 5, "requests")
    },
    Case("a POST over a connection that went stale arrives whole or fails") { bench in
      for fault in [LoopbackFault.close, .reset] {
        let server = try LoopbackServer { .text($0.text) }
        defer { server.stop() }
        server.enqueue(.text("first").fault(fault, at: .nextRequest))
        _ = try await bench.send(try bench.request(url: "\(server.baseURL)"))
        try await sendOverStaleConnection(to: server, bench)
      }
    },
  ]

  private static func sendOverStaleConnection(to server: LoopbackServer, _ bench: ConformanceBench) async throws {
    let request = try bench.request(.post, url: "\(server.baseURL)", body: .data(Data("whole".utf8)))
    do {
      try bench.equal(try await bench.send(request).text, "whole", "body that the server got")
    } catch let error as NetworkError {
      try bench.equal(error.code, .connectionLost, "code of the error")
    }
    let posts = server.requests.filter { $0.method == .post }
    try bench.hold(posts.allSatisfy { $0.text == "whole" }, "a POST arrived without its body")
    try bench.hold(posts.count <= 1, "the POST arrived \(posts.count) times")
  }
}
