import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Secrets that a recorder learns late, or only a part of.
@Suite(.limited) struct RecordingFactsTests {
  private let mock = MockTransport()

  private func client(_ recorder: CallRecorder, _ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    NetworkClient(baseURL: mock.baseURL, behaviors: behaviors + [.recording(recorder)], transport: mock)
  }

  private func shown(_ recorder: CallRecorder) -> String {
    let recording = recorder.recording
    return String(decoding: recording.har() + recording.waterfall(), as: UTF8.self)
  }

  @Test func `the attributes of a cookie do not count as secrets`() async throws {
    let recorder = CallRecorder()
    mock.on().respond(
      200, headers: ["Set-Cookie": "sid=c4nary-cookie; Domain=example.com; Path=/users/all; Max-Age=31536000"])
    try await client(recorder).send(.get("users/all"))
    #expect(recorder.recording.calls.first?.url == "https://example.com/users/all")
    #expect(!shown(recorder).contains("c4nary"))
  }

  @Test func `the beginning of a secret that a recorded body cuts off is not shown`() async throws {
    let secret = "c4nary-a-token-of-forty-bytes-0123456789"
    let recorder = CallRecorder(bodies: .upTo(200))
    let text = String(repeating: "x", count: 170) + " " + secret + " and more"
    mock.on().respond(200, text: text)
    try await client(recorder).send(.get("x", headers: ["X-API-Key": secret]))
    #expect(!shown(recorder).contains("c4nary"))
    let body = recorder.recording.calls.first?.sends.first?.responseBody
    #expect(body?.contains("cut off, \(text.utf8.count) bytes in all") == true)
  }

  @Test func `a token in JSON that is cut off is hidden in the other calls too`() async throws {
    let recorder = CallRecorder(bodies: .upTo(64))
    let rest = String(repeating: "\"words\", ", count: 40)
    mock.on(.post).respond(200, jsonText: #"{"access_token": "c4nary-of-the-cut", "list": [\#(rest)"end"]}"#)
    mock.on(.get).respond(200, text: "you said c4nary-of-the-cut")
    try await client(recorder).send(.post("token"))
    try await client(recorder).send(.get("echo"))
    #expect(!shown(recorder).contains("c4nary"))
  }

  @Test func `a secret of a call that hangs is hidden`() async throws {
    let recorder = CallRecorder()
    let gate = TestGate()
    mock.on().respond { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(recorder, [KeyInThePath()])
    let sending = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    #expect(recorder.recording.calls.first?.outcome == .underWay)
    #expect(!shown(recorder).contains("c4nary"))
    gate.open()
    try await sending.value
  }

  @Test func `the page of another tool's archive does not say that secrets are hidden`() throws {
    let har = #"""
      {"log": {"entries": [{"startedDateTime": "2026-11-23T01:14:56Z", "time": 5,
        "request": {"method": "GET", "url": "https://shop.example.com/b", "headers": []},
        "response": {"status": 200, "headers": []}}]}}
      """#
    let foreign = String(decoding: try Recording(har: Data(har.utf8)).waterfall(), as: UTF8.self)
    #expect(!foreign.contains("secrets are hidden"))
    #expect(foreign.contains("secrets in it are shown"))
    let own = Recording(startedAt: Date(timeIntervalSince1970: 0), calls: [])
    #expect(String(decoding: own.waterfall(), as: UTF8.self).contains("secrets are hidden"))
  }
}

/// Puts a key into the path, and says that it is secret.
private struct KeyInThePath: RequestBehavior {
  let order = BehaviorOrder.authentication

  func modify(_ request: inout NetworkRequest) {
    request.call.addSecret("c4nary-in-the-path")
    request.url.append(path: "c4nary-in-the-path")
  }
}
