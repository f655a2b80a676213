import Foundation
import RequestBehaviors
import RequestBehaviorsCurl
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Several transports that share the work.
@Suite(.limited) struct CurlTransportsTests {
  private func makeServer() throws -> LoopbackServer { try LoopbackServer { .text($0.path) } }

  /// The thread that runs the current job.
  private static func thread() -> UInt { UInt(bitPattern: pthread_self().hashValue) }

  @Test func `each run gets the thread of the next transport`() async throws {
    let transports = CurlTransports(count: 3)
    var threads: [UInt] = []
    for _ in 0..<6 { threads.append(try await transports.run { Self.thread() }) }
    #expect(Set(threads).count == 3)
    #expect(threads.prefix(3).elementsEqual(threads.suffix(3)))
  }

  @Test(arguments: [(Int.min, 1), (0, 1), (1, 1), (1_025, 1_024), (.max, 1_024)])
  func `a number of transports beyond the bounds counts as the nearest`(count: Int, expected: Int) {
    #expect(CurlTransports(count: count).count == expected)
  }

  @Test func `the requests of the work go over the connections of its transport`() async throws {
    let server = try makeServer()
    let transports = CurlTransports(count: 4)
    let client = NetworkClient(baseURL: server.baseURL, transport: transports)
    try await transports.run {
      for _ in 0..<8 { try await client.send(.get("a")) }
    }
    #expect(server.connectionCount == 1)
    await client.shutdown()
  }

  @Test func `the work stays on its thread`() async throws {
    let server = try makeServer()
    let transports = CurlTransports(count: 2)
    let client = NetworkClient(baseURL: server.baseURL, transport: transports)
    let threads = try await transports.run {
      var threads = [Self.thread()]
      for _ in 0..<3 {
        try await client.send(.get("a"))
        threads.append(Self.thread())
      }
      return threads
    }
    #expect(Set(threads).count == 1)
    await client.shutdown()
  }

  @Test func `requests outside of a run are spread`() async throws {
    let server = try makeServer()
    let client = NetworkClient(baseURL: server.baseURL, transport: CurlTransports(count: 2))
    for _ in 0..<8 { try await client.send(.get("a")) }
    #expect(server.connectionCount == 2)
    await client.shutdown()
  }

  @Test func `requests of work on another group of transports are spread over the transports`() async throws {
    let server = try makeServer()
    let (first, second) = (CurlTransports(count: 1), CurlTransports(count: 2))
    let client = NetworkClient(baseURL: server.baseURL, transport: second)
    try await first.run {
      for _ in 0..<4 { try await client.send(.get("a")) }
    }
    #expect(server.connectionCount == 2)
    await client.shutdown()
  }

  @Test func `a shutdown ends all transports`() async throws {
    let server = try makeServer()
    let transports = CurlTransports(count: 2)
    let client = NetworkClient(baseURL: server.baseURL, transport: transports)
    for _ in 0..<2 { try await client.send(.get("a")) }
    await transports.shutdown()
    for _ in 0..<2 {
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
      #expect(error?.code == .clientShutDown)
    }
  }

  @Test(arguments: [Int.min, 0, 1]) func `there is at least one transport`(count: Int) {
    #expect(CurlTransports(count: count).count == 1)
  }

  @Test func `ten thousand requests of many runs arrive once each`() async throws {
    let seen = Box<[String: Int]>([:])
    let server = try LoopbackServer { request in
      seen.update { $0[request.path, default: 0] += 1 }
      return .text("")
    }
    let transports = CurlTransports(count: 3)
    let client = NetworkClient(baseURL: server.baseURL, transport: transports)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for run in 0..<20 {
        group.addTask {
          try await transports.run {
            for number in 0..<500 { try await client.send(.get("\(run)/\(number)")) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(seen.value.count == 10_000)
    #expect(seen.value.values.allSatisfy { $0 == 1 })
    await client.shutdown()
  }
}
