import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

/// The samples of "Queries by GitHub's rules", over a real connection.
@Suite(.limited) struct GitHubRulesTests {
  private let server: LoopbackServer
  private let github: NetworkClient
  private let journal = Journal()
  private let owner = "swiftlang"
  private let name = "swift"

  init() throws {
    server = try LoopbackServer()
    let (apiURL, token) = (server.baseURL, "s3cret")
    let refusals = RefusalPolicy(statusesWithDelay: [403])
    // A secondary limit without a time: wait a minute.
    let decider: RetryDecider = { attempt in
      guard attempt.response?.statusCode == 403,
        let text = try? attempt.response?.text,
        text.contains("secondary rate limit"),
        attempt.hints?.delay == nil
      else { return attempt.suggestion }
      return .retry(after: .seconds(60))
    }
    let github = NetworkClient(
      baseURL: apiURL,
      behaviors: [
        .logging(),
        .userAgent("issue-reader/1.0"),
        .headers([
          "Accept": "application/vnd.github+json",
          "X-GitHub-Api-Version": "2022-11-28",
        ]),
        .bearer(token),
        .caching(MemoryCacheStore()),
        .retry(
          RetryPolicy(refusals: refusals),
          budget: RetryBudget(reserve: 10), decider: decider),
        .rateLimit(10, burst: 20, refusals: refusals),
        .concurrencyLimit(4),
      ])
    // The waits of the limits end at once.
    self.github = github.with { $0.clock = .immediate }
  }

  private func store(_ issues: [Issue]) { journal.note(issues.map(\.title).joined(separator: ",")) }

  @Test func `the fields name the media type, the client and the token`() async throws {
    server.enqueue(.json("{}"))
    try await github.send(.get("zen"))
    let fields = try #require(server.requests.first).headers
    #expect(fields["Accept"] == "application/vnd.github+json")
    #expect(fields["User-Agent"] == "issue-reader/1.0")
    #expect(fields["Authorization"] == "Bearer s3cret")
  }

  @Test func `pages follow their links`() async throws {
    let next = "<\(server.baseURL)repos/swiftlang/swift/issues?page=2>; rel=\"next\""
    server.enqueue(
      LoopbackResponse.json(#"[{"id":1,"title":"a"}]"#).header("Link", next), .json(#"[{"id":2,"title":"b"}]"#))
    let request = Request<[Issue]>.get(
      "repos/\(owner)/\(name)/issues",
      query: ["state": "all", "per_page": 100])
    for try await page in github.pages(request) {
      store(page.value)
    }
    #expect(journal.entries == ["a", "b"])
  }

  @Test func `a new attempt waits for the time that a refusal names`() async throws {
    let clock = ManualClock()
    let client = github.with { $0.clock = clock.requestClock }
    server.enqueue(LoopbackResponse.status(403).header("Retry-After", "30"), .json("{}"))
    async let done: Void = client.send(.get("zen"))
    await clock.waitForSleepers(1)
    #expect(server.requestCount == 1)
    clock.advance(by: .seconds(60))
    try await done
    #expect(server.requestCount == 2)
  }

  @Test func `a limit of an hour is an error with its date`() async throws {
    let reset = Date.now.addingTimeInterval(3_600)
    func refusal() -> LoopbackResponse {
      LoopbackResponse.status(403).header("X-RateLimit-Remaining", "0")
        .header("X-RateLimit-Reset", "\(Int(reset.timeIntervalSince1970))")
    }
    server.enqueue(refusal())
    var dates: [Date] = []
    func readAll() async throws { try await github.send(.get("zen")) }
    func continueLater(at date: Date) { dates.append(date) }
    do {
      try await readAll()
    } catch let error as NetworkError {
      guard let date = error.availableAt else { throw error }
      continueLater(at: date)
    }
    #expect(server.requestCount == 1)
    try #require(dates.count == 1)
    #expect(abs(dates[0].timeIntervalSince(reset)) < 60)
  }

  /// Two pages, each of which is refused once before it comes.
  private func enqueueTwoPages(refusedBy first: LoopbackResponse, _ second: LoopbackResponse) {
    let next = "<\(server.baseURL)repos/swiftlang/swift/issues?page=2>; rel=\"next\""
    server.enqueue(
      first, LoopbackResponse.json(#"[{"id":1,"title":"a"}]"#).header("Link", next),
      second, .json(#"[{"id":2,"title":"b"}]"#))
  }

  private let secondaryLimit = LoopbackResponse.json(
    #"{"message":"You have exceeded a secondary rate limit."}"#, status: 403)

  private func readPages(over client: NetworkClient) async throws {
    for try await page in client.pages(Request<[Issue]>.get("repos/\(owner)/\(name)/issues")) { store(page.value) }
  }

  @Test func `a request succeeds after two secondary limits that name a time`() async throws {
    let refusal = secondaryLimit.header("Retry-After", "1")
    enqueueTwoPages(refusedBy: refusal, refusal)
    try await readPages(over: github)
    #expect(journal.entries == ["a", "b"])
    #expect(server.requestCount == 4)
  }

  @Test func `two secondary limits without a time are survived, each by a pause of a minute`() async throws {
    enqueueTwoPages(refusedBy: secondaryLimit, secondaryLimit)
    let clock = ManualClock()
    let client = github.with { $0.clock = clock.requestClock }
    async let done: Void = readPages(over: client)
    for _ in 1...2 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(59))
      #expect(clock.sleeperCount == 1)
      clock.advance(by: .seconds(1))
    }
    try await done
    #expect(journal.entries == ["a", "b"])
  }

  @Test func `requests that are refused at once are all sent again`() async throws {
    let refusal = secondaryLimit.header("Retry-After", "1")
    server.enqueue(contentsOf: Array(repeating: refusal, count: 4) + Array(repeating: .status(204), count: 20))
    let requests = (1...10).map { Request<Void>.get("repos/\(owner)/\(name)/issues/\($0)") }
    var failures: [any Error] = []
    for try await outcome in github.responses(to: requests, atMost: 10) {
      if case .failure(let error) = outcome.result { failures.append(error) }
    }
    #expect(failures.isEmpty)
    #expect(server.requestCount == 14)
  }

  @Test func `a secondary limit refuses a POST, too`() async throws {
    server.enqueue(secondaryLimit, .json("{}"))
    try await github.send(.post("zen"))
    #expect(server.requestCount == 2)
  }

  @Test func `a response that has not changed is confirmed`() async throws {
    server.enqueue(
      LoopbackResponse.json("{}").header("ETag", "\"1\""), LoopbackResponse.status(304).header("ETag", "\"1\""))
    try await github.send(.get("repos/\(owner)/\(name)"))
    let response: NetworkResponse = try await github.send(
      .get("repos/\(owner)/\(name)").with(\.caching, .revalidate))
    print(response.source)  // revalidated
    #expect(response.source == .revalidated)
    #expect(server.requests.last?.headers["If-None-Match"] == "\"1\"")
  }
}
