import Foundation
import RequestBehaviors

extension TransportConformance {
  /// A body that is larger than the buffers of sockets and transports.
  private static let large = LoopbackResponse.generated(pieces: 512, of: 32_768) { piece($0) }

  private static func piece(_ index: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: index), count: 32_768) }

  /// Streamed bodies come as the server sends them, and end on both sides when they are dropped.
  static let streams: [Case] = [
    Case("a streamed body follows its head", .streams) { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.text("12345", status: 203).header("X", "1").held(by: gate, at: .body))
      let response = try await bench.stream()
      try bench.equal(response.statusCode, 203, "status")
      try bench.equal(response.headers["X"], "1", "header X")
      gate.open()
      try bench.equal(try await response.buffered().text, "12345", "body")
      try bench.equal(try await response.completion.byteCount, 5, "bytes of the completion")
    },
    Case("a streamed body comes as the server sends it", .streams) { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
      var bytes = try await bench.stream().bytes.makeAsyncIterator()
      try bench.equal(try await bytes.next(), Data("12".utf8), "first chunk")
      gate.open()
      try bench.equal(try await bytes.next(), Data("345".utf8), "second chunk")
      try bench.equal(try await bytes.next(), nil, "chunk after the last")
    },
    Case("a streamed body is whole, however it is framed", .streams) { bench in
      bench.server.enqueue(.text("fixed"), .chunked(["chu", "nked"]), .closeDelimited("closed"))
      bench.server.enqueue(.text(""), .status(204))
      for text in ["fixed", "chunked", "closed", "", ""] {
        try bench.equal(try await bench.stream().buffered().text, text, "body")
      }
    },
    Case("a streamed body of any status is returned", .streams) { bench in
      bench.server.enqueue(.text("no", status: 401).header("WWW-Authenticate", "Basic realm=\"x\""))
      bench.server.enqueue(.text("gone", status: 404), .redirect(to: "/elsewhere"))
      for (status, text) in [(401, "no"), (404, "gone"), (302, "")] {
        let response = try await bench.stream()
        try bench.equal(response.statusCode, status, "status")
        try bench.equal(try await response.buffered().text, text, "body")
      }
    },
    Case("a streamed body with a slow reader is whole", .streams) { bench in
      bench.server.enqueue(large)
      let response = try await bench.stream()
      // Other requests go on meanwhile.
      for _ in 1...20 {
        bench.server.enqueue(.text("other"))
        try bench.equal(try await bench.send(try bench.request()).text, "other", "body of another response")
      }
      try await check(response, bench)
    },
    Case("a streamed body that is dropped unread ends its connection", .streams) { bench in
      // The body has no end, so that only the client closes the connection.
      bench.server.enqueue(.generated(pieces: 1_000_000, of: 32_768) { piece($0) })
      _ = try await bench.stream()
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a streamed body whose reader leaves the loop ends its connection", .streams) { bench in
      bench.server.enqueue(.text("12345").fault(.stall, at: .body(after: 2)))
      let response = try await bench.stream()
      for try await _ in response.bytes { break }
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a streamed body whose reader is cancelled ends its connection", .streams) { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
      let response = try await bench.stream()
      let task = Task { try await response.buffered() }
      await gate.waitForArrivals(1)
      task.cancel()
      try await bench.cancellation(task)
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a streamed body that failed delivers what came before the error", .streams) { bench in
      for (fault, code) in [(LoopbackFault.close, NetworkError.Code.truncatedBody), (.reset, .connectionLost)] {
        bench.server.enqueue(.text("12345").fault(fault, at: .body(after: 2)))
        let response = try await bench.stream()
        var bytes = response.bytes.makeAsyncIterator()
        try bench.equal(try await bytes.next(), Data("12".utf8), "what came before the \(fault)")
        try await bench.failure([code], because: "there was a \(fault) after 2 bytes") {
          while try await bytes.next() != nil {}
          return response
        }
      }
    },
    Case("a streamed body is ended by shutdown", .streams) { bench in
      bench.server.enqueue(.text("12345").fault(.stall, at: .body(after: 2)))
      let response = try await bench.stream()
      var bytes = response.bytes.makeAsyncIterator()
      try bench.equal(try await bytes.next(), Data("12".utf8), "first chunk")
      await bench.transport.shutdown()
      try await bench.failure([.clientShutDown], because: "the transport was shut down") {
        while try await bytes.next() != nil {}
        return response
      }
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a streamed body keeps its transport, which goes with it", .streams) { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(large.held(by: gate, at: .body(after: 2)))
      do {
        let response = try await bench.stream(over: try await bench.anotherTransport())
        gate.open()
        try await check(response, bench)
      }
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a timeout ends a streamed body that stops", .streams, .timeouts) { bench in
      bench.server.enqueue(.text("12345").fault(.stall, at: .body(after: 2)))
      let request = try bench.request { $0.idleTimeout = .seconds(3) }
      let response = try await bench.stream(request)
      var bytes = response.bytes.makeAsyncIterator()
      try bench.equal(try await bytes.next(), Data("12".utf8), "first chunk")
      await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(3))
      try await bench.failure([.timedOut], because: "3 s are over") {
        while try await bytes.next() != nil {}
        return response
      }
      await bench.server.waitForConnections(atMost: 0)
    },
  ]

  /// Reads the large body and checks every byte of it.
  private static func check(_ response: NetworkResponse, _ bench: ConformanceBench) async throws {
    var count = 0
    for try await chunk in response.bytes {
      // The pieces are compared as a whole, because checking byte by byte is slow in an unoptimized build.
      var rest = chunk
      while !rest.isEmpty {
        let part = rest.prefix(32_768 - count % 32_768)
        guard part == piece(count / 32_768).prefix(part.count) else {
          throw Failure("the bytes after \(count) of the body are not what was sent")
        }
        count += part.count
        rest = rest.dropFirst(part.count)
      }
    }
    try bench.equal(count, 512 * 32_768, "bytes")
  }
}
