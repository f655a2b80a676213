import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite

/// Samples of doc comments that would ask a server, or wait without end: they are compiled, not run.
private struct SharedSamples {
  func breaker() async throws {
    let breaker = CircuitBreaker()
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.circuitBreaker(breaker)])
    for await change in breaker.changes {
      print("\(change.key) is \(change.state) now")
    }
    withExtendedLifetime(client) {}
  }

  func coalescing() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.coalescing()])
    async let first: User = client.send(.get("me"))
    async let second: User = client.send(.get("me"))
    let users = try await [first, second]  // one request
    withExtendedLifetime(users) {}
  }

  func priority() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.rateLimit(10, burst: 20)])
    try await client.send(.get("feed").with(\.priority, .high))
  }

  func deadline() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.deadline(.seconds(30)), .retry()])
    let report: Data = try await client.send(
      .get("report").with(\.deadline, .seconds(120)))
    withExtendedLifetime(report) {}
  }

  func cache(path: String) throws {
    let cache = try SQLiteCacheStore(path: path)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(cache)])
    withExtendedLifetime(client) {}
  }
}
