import Foundation
import RequestBehaviors

extension TransportConformance {
  /// A request's progress is informed of the bytes in both directions.
  static let progress: [Case] = [
    Case("progress counts the bytes of both bodies") { bench in
      bench.server.enqueue(.data(Data(repeating: 0x61, count: 200_000)))
      let state = try await sent(.data(Data(repeating: 0x62, count: 300_000)), bench)
      try check(state, sent: 300_000, received: 200_000, bench)
    },
    Case("progress counts few bytes of a body") { bench in
      bench.server.enqueue(.text("abc"))
      try check(try await sent(.data(Data("12345".utf8)), bench), sent: 5, received: 3, bench)
    },
    Case("progress counts the bytes of a file") { bench in
      let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
      try Data(repeating: 0x62, count: 100_000).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      bench.server.enqueue(.text("abc"))
      try check(try await sent(.file(file), bench), sent: 100_000, received: 3, bench)
    },
    Case("progress counts the bytes of a stream whose length is known") { bench in
      let chunk = Data(repeating: 0x62, count: 100_000)
      bench.server.enqueue(.text("abc"))
      let body = RequestBody.stream(length: 400_000) { ByteStream(chunks: Array(repeating: chunk, count: 4)) }
      try check(try await sent(body, bench), sent: 400_000, received: 3, bench)
    },
    Case("progress tells what has come while the rest is on its way") { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.data(Data(repeating: 0x61, count: 100_000)).held(by: gate, at: .body(after: 60_000)))
      let progress = TransferProgress()
      let request = try bench.request { $0.progress = progress }
      async let response = bench.send(request)
      let half = await progress.states.first { $0.received == 60_000 }
      gate.open()
      try bench.equal(half?.expectedToReceive, 100_000, "the length that is expected")
      _ = try await response
      try bench.equal(progress.state.received, 100_000, "bytes received")
    },
    Case("progress expects no length of a compressed or a chunked body") { bench in
      bench.server.enqueue(.chunked(["abc", "de"]))
      let progress = TransferProgress()
      _ = try await bench.send(try bench.request { $0.progress = progress })
      try bench.equal(progress.state.received, 5, "bytes received")
      try bench.equal(progress.state.expectedToReceive, nil, "the length that is expected")
    },
    Case("progress begins anew with each send") { bench in
      bench.server.enqueue(.text("abcdef"))
      bench.server.enqueue(.text("abc"))
      let progress = TransferProgress()
      let request = try bench.request(.post, body: .data(Data("12345".utf8))) { $0.progress = progress }
      for attempt in 1...2 {
        _ = try await bench.send(request)
        try bench.equal(progress.state.attempt, attempt, "the transmission")
      }
      try check(progress.state, sent: 5, received: 3, bench)
    },
  ]

  private static func sent(_ body: RequestBody, _ bench: ConformanceBench) async throws -> TransferProgress.State {
    let progress = TransferProgress()
    _ = try await bench.send(try bench.request(.put, body: body) { $0.progress = progress })
    return progress.state
  }

  private static func check(
    _ state: TransferProgress.State, sent: Int64, received: Int64, _ bench: ConformanceBench
  ) throws {
    try bench.equal(state.sent, sent, "bytes sent")
    try bench.equal(state.expectedToSend, sent, "the length that is to be sent")
    try bench.equal(state.received, received, "bytes received")
    try bench.equal(state.expectedToReceive, received, "the length that is expected")
  }
}
