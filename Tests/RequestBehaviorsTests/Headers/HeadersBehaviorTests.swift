import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct HeadersBehaviorTests {
  private let transport = ClosureTransport(200)

  private func sent(
    _ behaviors: [any RequestBehavior], _ request: Request<Void> = .get("a")
  ) async throws -> HeaderFields {
    try await NetworkClient(transport, behaviors).send(request)
    return try #require(transport.sent.last?.headers)
  }

  @Test func `fixed and computed fields are set, and the request's own replace them`() async throws {
    let headers = try await sent(
      [
        .headers(["X-A": "1", "X-B": "1"]), .userAgent("shop/1.2"),
        .headers("path") { ["X-Path": $0.url.path()] },
      ], .get("a", headers: ["x-b": "2"]))
    #expect(headers["X-A"] == "1")
    #expect(headers["X-B"] == "2")
    #expect(headers["User-Agent"] == "shop/1.2")
    #expect(headers["X-Path"] == "/v1/a")
  }

  @Test func `a key is secret and goes to its origins only`() async throws {
    let headers = try await sent([.apiKey("X-API-Key", "canary")])
    #expect(headers["X-API-Key"] == "canary")
    #expect(!headers.description.contains("canary"))
    let other = Request<Void>.get(url: try #require(URL(string: "https://other.example/a")))
    #expect(try await sent([.apiKey("X-API-Key", "canary")], other).contains("X-API-Key") == false)
  }

  @Test func `languages are sent in order of preference`() async throws {
    #expect(try await sent([.acceptLanguage(["da", "en-GB", "en"])])["Accept-Language"] == "da, en-GB;q=0.9, en;q=0.8")
    #expect(try await sent([.acceptLanguage([])]).contains("Accept-Language") == false)
    let many = (0..<20).map { "l\($0)" }
    #expect(try await sent([.acceptLanguage(many)])["Accept-Language"]?.hasSuffix("l9;q=0.1") == true)
  }

  @Test func `the same fields twice in a list are an error, the request's replace the configuration's`() async throws {
    await #expect(throws: NetworkError.self) { try await sent([.userAgent("a"), .userAgent("b")]) }
    #expect(try await sent([.userAgent("a")], .get("a").with(.userAgent("b")))["User-Agent"] == "b")
  }

  @Test func `a field that cannot be computed fails the request`() async throws {
    await #expect(throws: CocoaError.self) {
      try await sent([.headers("x") { _ in throw CocoaError(.coderInvalidValue) }])
    }
    #expect(transport.sent.isEmpty)
  }
}
