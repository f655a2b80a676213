import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct CallTimingsTests {
  private let clock = ManualClock()

  private func client(_ behavior: any RequestBehavior) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior])
    configuration.clock = clock.requestClock
    let transport = ClosureTransport { [clock] request in
      clock.advance(by: request.url.lastPathComponent == "slow" ? .seconds(2) : .milliseconds(10))
      return NetworkResponse(request: request, statusCode: request.url.lastPathComponent == "bad" ? 500 : 200)
    }
    return NetworkClient(configuration: configuration, transport: transport)
  }

  @Test func `durations are collected per endpoint, not per URL`() async throws {
    let timings = LatencyStatistics()
    let client = client(.timing(timings))
    for id in 1...5 { try await client.send(.get("users/\(id)")) }
    try await client.send(.get("slow"))
    _ = try? await client.send(.post("users/\("bad")"))
    #expect(timings.endpoints.map(\.name) == ["GET slow", "GET users/{}", "POST users/{}"])
    #expect(timings.endpoints.map(\.durations.count) == [1, 5, 1])
    #expect(timings.endpoints.map(\.failures) == [0, 0, 1])
    #expect(
      timings.description == """
        endpoint       calls  failed      p50      p95      p99      max
        GET slow           1       0  2000 ms  2000 ms  2000 ms  2000 ms
        GET users/{}       5       0  10.0 ms  10.0 ms  10.0 ms  10.0 ms
        POST users/{}      1       1  10.0 ms  10.0 ms  10.0 ms  10.0 ms
        """)
    timings.reset()
    #expect(timings.endpoints.isEmpty)
  }

  @Test func `memory is limited: endpoints past the limit count as one`() async throws {
    let timings = LatencyStatistics(limit: 2)
    let client = client(.timing(timings))
    for id in 1...9 { try await client.send(.get(RequestPath(encoded: "path-\(id)"))) }
    #expect(timings.endpoints.map(\.name) == ["(other)", "GET path-1", "GET path-2"])
    timings.reset()
    try await client.send(.get("path-9"))
    #expect(timings.endpoints.map(\.name) == ["GET path-9"])
  }

  @Test func `requests by URL are one endpoint per host, and on the base URL's host have paths without identifiers`()
    async throws
  {
    let timings = LatencyStatistics()
    let client = client(.timing(timings))
    for id in 1...500 {
      try await client.send(.get(url: #require(URL(string: "https://h\(id % 2).example/page-\(id)"))))
      try await client.send(.get(url: #require(URL(string: "https://api.example.com/v1/users/\(id + 1_000)"))))
    }
    let uuid = "0b7f5c1e-8a5d-4f3e-9c55-2d1f7a9b6c10"
    try await client.send(.get(url: #require(URL(string: "https://api.example.com/v1/files/\(uuid)/text"))))
    #expect(
      Set(timings.endpoints.map(\.name)) == [
        "GET h0.example", "GET h1.example", "GET /v1/users/{}", "GET /v1/files/{}/text",
      ])
  }

  @Test func `a cancelled call does not count for a server`() async {
    let timings = LatencyStatistics()
    let client = client(.timing(timings))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.send(.get("x"))
    }
    _ = try? await task.value
    #expect(timings.endpoints.isEmpty)
  }
}
