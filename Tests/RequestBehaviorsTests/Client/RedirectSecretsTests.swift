import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The secrets of a request that was redirected are in no description of what follows.
@Suite(.limited) struct RedirectSecretsTests {
  private let lines = Box<[String]>([])

  /// Redirects the first request, and repeats a text in the refusal of the second.
  private func error(
    _ redirect: Int, to location: String, quoting text: String, _ request: Request<Void>
  ) async throws -> NetworkError {
    let transport = ClosureTransport { request in
      guard request.attemptNumber > 1 else {
        return NetworkResponse(request: request, statusCode: redirect, headers: ["Location": location])
      }
      return NetworkResponse(
        request: request, statusCode: 422, headers: ["Content-Type": "application/problem+json"],
        body: .data(Data(#"{"title":"\#(text) is not valid"}"#.utf8)))
    }
    let sink = ClosureLogSink { [lines] record in lines.update { $0 += [record.line, record.json] } }
    let client = NetworkClient(transport, [.logging(sink, level: .debug, bodyLimit: 4_096)])
    return try #require(await #expect(throws: NetworkError.self) { try await client.send(request) })
  }

  private func expectHidden(_ secret: String, in error: NetworkError, sourceLocation: SourceLocation = #_sourceLocation)
  {
    #expect(error.attempts.count == 2, sourceLocation: sourceLocation)
    #expect("\(error)".contains("REDACTED is not valid"), sourceLocation: sourceLocation)
    #expect(!lines.value.isEmpty, sourceLocation: sourceLocation)
    let texts = [error.message, "\(error)", error.localizedDescription, "\(error.request?.call.events ?? [])"]
    for text in texts + lines.value { #expect(!text.contains(secret), "\(text)", sourceLocation: sourceLocation) }
  }

  @Test func `a password of a form is hidden after a redirect`() async throws {
    let request = Request<Void>.post("users", body: .form(["password": "hunter-canary"]))
    expectHidden("canary", in: try await error(303, to: "/failed", quoting: "hunter-canary", request))
  }

  @Test func `a password of JSON is hidden after a redirect, also in the location`() async throws {
    let request = Request<Void>.post("users", body: .json(["password": "hunter-canary"]))
    expectHidden("canary", in: try await error(302, to: "/no/hunter-canary", quoting: "hunter-canary", request))
  }

  @Test(arguments: [302, 307]) func `a key of the query is hidden after a redirect`(status: Int) async throws {
    let request = Request<Void>.get("x", query: ["api_key": "abc-canary"])
    expectHidden("canary", in: try await error(status, to: "/y", quoting: "abc-canary", request))
  }

  @Test func `a password that is sent on is hidden too`() async throws {
    let request = Request<Void>.post("users", body: .form(["password": "hunter-canary"]))
    expectHidden("canary", in: try await error(308, to: "/moved", quoting: "hunter-canary", request))
  }
}
