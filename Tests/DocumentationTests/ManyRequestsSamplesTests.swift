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

  @Test func `a limit for all hosts stands beside one for each`() throws {
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .retry(), .serverRateLimits(),
        .concurrencyLimit(4),
        .concurrencyLimit(
          32, name: "all hosts", key: LimitKey.forAllRequests),
      ])
    #expect(try client.pipeline(for: Request<Void>.get("a")).warnings.isEmpty)
  }
}
