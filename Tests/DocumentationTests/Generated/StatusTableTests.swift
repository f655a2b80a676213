import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

/// The table of statuses in "Error codes", made of what clients do with each status.
@Suite(.limited) struct StatusTableTests {
  private static let final = 200...599

  private struct Replies: Sendable {
    let mock: MockTransport
    let client: NetworkClient

    init(
      _ status: Int, headers: HeaderFields = [:], clock: RequestClock = .immediate, _ behaviors: [any RequestBehavior]
    ) {
      mock = MockTransport { request in
        NetworkResponse(request: request, statusCode: status, headers: headers)
      }
      var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
      configuration.clock = clock
      client = NetworkClient(configuration: configuration, transport: mock)
    }
  }

  /// Returns the statuses for which a condition holds, as text such as `200–299, 304`.
  private func statuses(where condition: @escaping @Sendable (Int) async throws -> Bool) async throws -> String {
    // All at once: each of them waits many times, and each time behind the other tests.
    let found = try await withThrowingTaskGroup(of: Int?.self) { group in
      for status in Self.final { group.addTask { try await condition(status) ? status : nil } }
      return try await group.reduce(into: Set<Int>()) { if let status = $1 { $0.insert(status) } }
    }
    var ranges: [ClosedRange<Int>] = []
    for status in found.sorted() {
      if let last = ranges.last, last.upperBound == status - 1 {
        ranges[ranges.count - 1] = last.lowerBound...status
      } else {
        ranges.append(status...status)
      }
    }
    return ranges.flatMap { range in
      // Two neighbours are a list, more are a range.
      range.count > 2 ? ["\(range.lowerBound)–\(range.upperBound)"] : range.map { "\($0)" }
    }.joined(separator: ", ")
  }

  private func isSuccess(_ status: Int) async -> Bool {
    do {
      try await Replies(status, []).client.send(.get("x"))
      return true
    } catch {
      return false
    }
  }

  private func isFollowed(_ status: Int) async -> Bool {
    let replies = Replies(status, headers: ["Location": "/elsewhere"], [])
    try? await replies.client.send(.get("x"))
    return replies.mock.sent.count > 1
  }

  private func isRetried(_ status: Int, _ request: Request<Void>) async -> Bool {
    let replies = Replies(status, [.retry()])
    try? await replies.client.send(request)
    return replies.mock.sent.count > 1
  }

  private func isCounted(_ status: Int) async -> Bool {
    let replies = Replies(status, [.circuitBreaker(CircuitBreaker(CircuitPolicy(minimumRequests: 1)))])
    for _ in 1...2 { try? await replies.client.send(.get("x")) }
    return replies.mock.sent.count == 1
  }

  private func pauses(_ status: Int) async -> Bool {
    let behaviors: [any RequestBehavior] = [.rateLimit(1_000, burst: 1_000), .deadline(.seconds(1))]
    let replies = Replies(status, headers: ["Retry-After": "60"], clock: ManualClock().requestClock, behaviors)
    for _ in 1...2 { try? await replies.client.send(.get("x")) }
    return replies.mock.sent.count == 1
  }

  private func isStored(_ status: Int) async -> Bool {
    let fields: HeaderFields = ["Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"]
    let replies = Replies(
      status, headers: fields, clock: ManualClock().requestClock, [.caching(MemoryCacheStore(capacity: 100_000))])
    for _ in 1...2 { try? await replies.client.send(.get("x")) }
    return replies.mock.sent.count == 1
  }

  private func isReplaced(_ status: Int) async throws -> Bool {
    let clock = ManualClock()
    let store = MemoryCacheStore(capacity: 100_000)
    let caching = CachingBehavior(store, policy: CachePolicy(staleIfError: .seconds(3_600)))
    let fields: HeaderFields = ["Cache-Control": "max-age=1"]
    try await Replies(200, headers: fields, clock: clock.requestClock, [caching]).client.send(.get("x"))
    clock.advance(by: .seconds(60))
    let replies = Replies(status, clock: clock.requestClock, [caching])
    let response = try? await replies.client.send(Request<NetworkResponse>.get("x"))
    return response?.source == .stale
  }

  @Test func `the table of statuses matches what clients do`() async throws {
    let rows = [
      ("is a success", try await statuses(where: isSuccess), "``RequestOptions/acceptableStatuses``"),
      ("is followed, with a `Location`", try await statuses(where: isFollowed), "``RequestOptions/redirects``"),
      (
        "is retried, where `.retry()` is listed", try await statuses { await isRetried($0, .get("x")) },
        "``RetryPolicy/statuses``"
      ),
      (
        "is retried even for a POST without a key", try await statuses { await isRetried($0, .post("x")) },
        "``RetryPolicy/refusals``"
      ),
      ("counts as a failure for `.circuitBreaker()`", try await statuses(where: isCounted), "–"),
      (
        "pauses all requests of `.rateLimit(…)`, with a `Retry-After`", try await statuses(where: pauses),
        "``RefusalPolicy``"
      ),
      ("is stored by `.caching(…)` without explicit freshness", try await statuses(where: isStored), "the server"),
      (
        "is replaced by a stale response, where that is allowed", try await statuses(where: isReplaced),
        "`CachePolicy.staleIfError`"
      ),
    ]
    let table =
      ["| a status that | by default | changed by |", "|---|---|---|"] + rows.map { "| \($0.0) | \($0.1) | \($0.2) |" }
    try Repository.expect(
      "Sources/RequestBehaviors/RequestBehaviors.docc/ErrorCodes.md", contains: table.joined(separator: "\n"))
  }
}
