#if os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport

  /// Cancels sends at random moments, and finds out whether anything is left of them.
  struct Cancellations: Sendable {
    func run(_ count: Int) async throws {
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        switch Int(request.path.dropFirst(), radix: 10) ?? 0 {
        case let number where number % 3 == 0: .text("hello")
        case let number where number % 3 == 1: .data(Data(count: 200_000))
        default: .text("12345").delayed(by: .milliseconds(1), at: .body(after: 2))
        }
      }
      let transport = CurlTransport()
      let whole = try await withThrowingTaskGroup(of: Int.self) { group in
        for lane in 0..<16 {
          group.addTask {
            var generator = SeededGenerator(seed: UInt64(lane))
            var whole = 0
            for number in stride(from: lane, to: count, by: 16) {
              if try await send(number, server.baseURL, transport, &generator) { whole += 1 }
            }
            return whole
          }
        }
        return try await group.reduce(0, +)
      }
      // It works on, and keeps no connection that was given up.
      for _ in 1...100 { _ = try await transport.send(NetworkRequest(url: server.baseURL)) }
      await transport.shutdown()
      await server.waitForConnections(atMost: 0)
      print("\(whole) of \(count) ended whole")
    }

    private func send(
      _ number: Int, _ base: URL, _ transport: CurlTransport, _ generator: inout SeededGenerator
    ) async throws -> Bool {
      var options = RequestOptions()
      if Bool.random(using: &generator) { options.delivery = .streamed }
      let chunks = ByteStream(chunks: [Data(count: 100_000), Data(count: 100_000)])
      let body: RequestBody? =
        switch number % 5 {
        case 0: .oneShot(chunks)
        case 1: .data(Data(count: 50_000))
        default: nil
        }
      let request = NetworkRequest(
        body == nil ? .get : .post, url: base.appending(path: "\(number)"), body: body, options: options)
      let task = Task { try await transport.send(request).buffered() }
      let wait = Int.random(in: 0..<1_000, using: &generator)
      // Real time: the cancellation has to come wherever the transfer is by then.
      if wait > 300 { try await RequestClock.system.sleep(for: .microseconds(wait)) }
      if wait < 900 { task.cancel() }
      switch await task.result {
      case .success: return true
      case .failure(let error):
        guard error is CancellationError else { throw error }
        return false
      }
    }
  }
#endif
