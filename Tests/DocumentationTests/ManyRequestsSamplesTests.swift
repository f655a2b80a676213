import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Many requests at a time".
@Suite(.limited) struct ManyRequestsSamplesTests {
  private let mock = MockTransport(baseURL: baseURL)

  @Test func `each page is indexed or has an error`() async throws {
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    mock.on(.get, "a").respond(text: "one")
    mock.on(.get, "b").respond(500)
    let urls = [baseURL.appending(path: "a"), baseURL.appending(path: "b")]
    var texts: [String] = []
    var failed: [(URL, any Error)] = []
    func index(_ page: Data, of url: URL) {
      texts.append("\(url.lastPathComponent): \(String(decoding: page, as: UTF8.self))")
    }
    let pages = urls.map { Request<Data>.get(url: $0) }
    let outcomes = client.responses(
      to: pages, atMost: 16, deadline: .seconds(600))
    for try await outcome in outcomes {
      switch outcome.result {
      case .success(let response):
        index(response.value, of: urls[outcome.index])
      case .failure(let error):
        failed.append((urls[outcome.index], error))
      }
    }
    #expect(texts == ["a: one"])
    #expect(failed.map(\.0.lastPathComponent) == ["b"])
  }

  @Test func `a crawler has a limit for all hosts, one for each, and the times of each`() async throws {
    let timings = LatencyStatistics()
    let crawler = NetworkClient(
      configuration: RequestConfiguration(
        behaviors: [
          .timing(timings), .retry(), .serverRateLimits(),
          .concurrencyLimit(4),
          .concurrencyLimit(
            32, name: "all hosts", key: LimitKey.forAllRequests),
        ]))
    let urls = try ["https://one.example/a", "https://two.example/b"].map { try #require(URL(string: $0)) }
    #expect(try crawler.pipeline(for: Request<Void>.get(url: urls[0])).warnings.isEmpty)
    let mock = MockTransport()
    mock.on().respond()
    let client = NetworkClient(configuration: crawler.configuration, transport: mock)
    for try await outcome in client.responses(to: urls.map { Request<Void>.get(url: $0) }, atMost: 2) {
      try outcome.value
    }
    #expect(Set(timings.endpoints.map(\.name)) == ["GET one.example", "GET two.example"])
  }
}
