import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct Report: Decodable, Sendable {
  let title: String
}

/// The samples of "Why was my request refused?" and "It does not work".
@Suite(.limited) struct RefusalSamplesTests {
  private let journal = Journal()

  private func log(_ line: String) { journal.note(line) }

  private func show(_ report: Report) { journal.note(report.title) }

  @Test func `an error tells the reason of a refusal`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "reports/7").respond(
      403, jsonText: #"{"title": "Forbidden", "detail": "the report is closed"}"#,
      headers: ["Content-Type": "application/problem+json", "X-Request-ID": "r-1"])
    let client = NetworkClient(baseURL: baseURL, behaviors: [.bearer("s3cret")], transport: mock)
    do {
      let report: Report = try await client.send(.get("reports/7"))
      show(report)
    } catch let error as NetworkError {
      log("\(error)")
      log(error.serverMessage ?? "the server gives no reason")
      log(error.serverRequestID ?? "the server gives no id")
      for attempt in error.attempts { log("\(attempt)") }
    }
    #expect(journal.entries.dropFirst().prefix(2) == ["Forbidden: the report is closed", "r-1"])
    #expect(journal.entries.last == "#1 GET https://api.example.com/v1/reports/7: 403")
    #expect(!journal.entries.joined().contains("s3cret"))
  }

  @Test func `a withheld credential is in the message`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "https://other.example.com/x").respond(401)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.bearer("s3cret")], transport: mock)
    let link = try #require(URL(string: "https://other.example.com/x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get(url: link)) }
    #expect(error?.message.contains("credentials are bound to other origins") == true)
  }

  @Test func `the request of an error is a command for a shell`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on().respond(403)
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(.get("reports/7")) })
    if let request = error.request { print(request.curlCommand()) }
    #expect(error.request?.curlCommand().hasPrefix("curl https://api.example.com/v1/reports/7") == true)
    print(try client.pipeline(for: Request<Report>.get("reports/7")))
  }

  @Test func `a variant of a client logs more`() throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.logging(), .retry()], transport: MockTransport())
    let debugging = client.with {
      $0.behaviors.removeAll { $0 is LoggingBehavior }
      $0.behaviors.append(.logging(level: .debug, headers: true))
    }
    print(try debugging.pipeline(for: Request<User>.get("me")))
    #expect(try debugging.pipeline(for: Request<User>.get("me")).entries.count == 3)
  }

  @Test func `a part of the group of resilience may not be listed beside it`() async {
    let behaviors: [any RequestBehavior] = [.resilience(), .deadline(.seconds(20))]
    let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: MockTransport())
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .invalidBehavior)
  }

  @Test func `the log gives the reason why a request is not retried`() async {
    let mock = MockTransport(baseURL: baseURL)
    mock.on().respond(503)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.retry()], transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("x")) }
    let events = error?.request?.call.events.map(\.message) ?? []
    #expect(events.contains("no retry: POST may have taken effect"))
  }
}
