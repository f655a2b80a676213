import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Redaction that keeps the types and shapes of values, so that a redacted body still decodes.
@Suite(.limited) struct RedactionShapeTests {
  private func shown(_ body: String, _ type: String, _ rules: PlayableRedaction) -> String? {
    rules.body(Data(body.utf8), type).map { String(decoding: $0, as: UTF8.self) }
  }

  private func json(_ body: String) -> String? {
    shown(body, "application/json", PlayableRedaction(.standard, numbered: true))
  }

  @Test func `numbers, truth values, objects, arrays and null keep their types`() {
    #expect(json(#"{"pin": 1234, "n": 5}"#) == #"{"pin": 0, "n": 5}"#)
    #expect(json(#"{"secret": true}"#) == #"{"secret": false}"#)
    #expect(json(#"{"token": null}"#) == #"{"token": null}"#)
    #expect(
      json(#"{"credentials": {"a": "x", "b": [1, "y"]}}"#)
        == #"{"credentials": {"a": "REDACTED-1", "b": [0, "REDACTED-2"]}}"#)
  }

  @Test func `equal values have equal numbers, and a placeholder is not changed`() {
    #expect(
      json(#"{"token": "a", "password": "b", "secret": "a", "pwd": "REDACTED-7"}"#)
        == #"{"token": "REDACTED-1", "password": "REDACTED-2", "secret": "REDACTED-1", "pwd": "REDACTED-7"}"#)
  }

  @Test func `UUIDs and dates keep their forms`() {
    #expect(
      json(#"{"token": "0f8fad5b-d9cb-469f-a165-70867728950e"}"#)
        == #"{"token": "00000000-0000-0000-0000-000000000001"}"#)
    #expect(json(#"{"token": "2026-11-23T01:14:55Z"}"#) == #"{"token": "1970-01-01T00:00:00Z"}"#)
  }

  @Test func `JSON in a string and in the events of a stream stays JSON`() {
    #expect(json(#"{"a": "{\"token\": \"x\"}"}"#) == #"{"a": "{\"token\": \"REDACTED-1\"}"}"#)
    let events = "id: 1\ndata: {\"access_token\":\"x\",\"n\":1}\n\n"
    let redacted = shown(events, "text/event-stream", PlayableRedaction(.standard, numbered: false))
    #expect(redacted == "id: 1\ndata: {\"access_token\":\"REDACTED\",\"n\":1}\n\n")
  }

  @Test(arguments: [
    ("https://h.example/a?page=2&size=10&q=b%20c", nil), ("https://h.example/ü?cursor=ä", nil),
    ("https://h.example/a?cursor=eyJpZCI6MTAwLCJkaXJlY3Rpb24iOiJuZXh0In0", nil),
    ("https://h.example/a?page=2&token=secret", "https://h.example/a?page=2&token=REDACTED-1"),
    ("https://h.example/a?X-Amz-Signature=secret&x=1", "https://h.example/a?X-Amz-Signature=REDACTED-1&x=1"),
    ("https://ann:secret@h.example/a?page=2", "https://h.example/a?page=2"),
    ("https://h.example/a#access_token=secret", "https://h.example/a"),
    ("https://h.example/a?next=https%3A%2F%2Fb.example%2Fc%3Fpage%3D2", nil), ("https://h.example/a?advanced", nil),
    (
      "https://h.example/a?next=https%3A%2F%2Fb.example%2Fc%3Faccess_token%3Dsecret",
      "https://h.example/a?next=https%3A%2F%2Fb.example%2Fc%3Faccess_token%3DREDACTED-1"
    ),
    ("https://h.example/a?next=/c?token=secret", "https://h.example/a?next=%2Fc%3Ftoken%3DREDACTED"),
    ("https://h.example/reset?c2VjcmV0LXdvcmQtMQ", "https://h.example/reset?REDACTED-1"),
    ("https://h.example/a?oobCode=secret", "https://h.example/a?oobCode=REDACTED-1"),
    ("https://h.example/a?b=1&amp;size=10", nil),
    ("https://h.example/a?b=1&amp;token=secret", "https://h.example/a?b=1&amp;token=REDACTED-1"),
    ("https://h.example/a?b=1;token=secret", "https://h.example/a?b=REDACTED;token=REDACTED"),
    ("https://h.example/a?t=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.secret", "https://h.example/a?t=REDACTED-1"),
    ("https://h.example/eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.secret/b", "https://h.example/REDACTED-1/b"),
  ])
  func `links keep the parts that are not credentials`(link: String, shown: String?) {
    let shown = shown ?? link
    #expect(json(#"{"a": "\#(link)", "b": "see \#(link)"}"#) == #"{"a": "\#(shown)", "b": "see \#(shown)"}"#)
    let text = self.shown("<\(link)>", "text/plain", PlayableRedaction(.standard, numbered: true))
    #expect(text == "<\(shown)>")
  }

  @Test(arguments: [
    ("Basic Tee", "Basic Tee"), ("the basic T-Shirt of 2026, with OAuth 2.0", nil),
    ("Basic dXNlcjpwYXNz", "Basic REDACTED"), ("sent Basic dXNlcjpwYXNz.", "sent Basic REDACTED"),
    ("Basic YW5uOnBhc3M", "Basic REDACTED"), ("Basic 9f8e7d6c5b4a", "Basic REDACTED"),
    ("Bearer sesameopen", "Bearer REDACTED"), ("Authorization: Bearer abc", "Authorization: REDACTED"),
    ("sent Bearer 9f8e7d6c5b4a", "sent Bearer REDACTED"), ("Bearer abcdefghijklmnopqrstuvwxyz", "Bearer REDACTED"),
  ])
  func `a word after the name of a scheme is hidden if it looks like a credential`(text: String, shown: String?) {
    #expect(json(#"{"a": "\#(text)"}"#) == #"{"a": "\#(shown ?? text)"}"#)
  }

  @Test func `forms keep their other fields, and other bytes have no redacted form`() {
    let rules = PlayableRedaction(.standard, numbered: true)
    #expect(
      shown("user=ann&password=x", "application/x-www-form-urlencoded", rules)
        == "user=ann&password=REDACTED-1")
    #expect(
      shown("user=ann&password=\u{301}x&page=2", "application/x-www-form-urlencoded", rules)
        == "user=ann&password=REDACTED-2&page=2")
    #expect(shown("abc", "image/png", rules) == nil)
  }
}

/// The lengths of waits, and the reason why a call was made.
@Suite(.limited) struct CallWaitTests {
  @Test func `the length of a wait is set once, when it ends`() {
    let now = Box(Duration.seconds(1))
    let call = Call(clock: RequestClock(now: { now.value }, date: { Date() }, sleep: { _ in }))
    let wait = call.begin("waits", from: "Test", kind: .gate)
    #expect(call.events.first?.isUnderWay == true)
    #expect(call.events.first?.duration == nil)
    now.update { $0 = .seconds(4) }
    call.end(wait)
    now.update { $0 = .seconds(9) }
    call.end(wait)
    #expect(call.events.first?.duration == .seconds(3))
    #expect(call.events.first?.isUnderWay == false)
  }

  @Test func `a call's purpose distinguishes a request of the app from a prerequisite`() {
    let call = Call()
    #expect(call.purpose == .request)
    #expect(Call(parent: call.id).purpose == .prerequisite)
  }

  @Test func `an attempt has the times of its response`() async throws {
    let response = try await NetworkClient(ClosureTransport()).send(Request<NetworkResponse>.get("x"))
    let attempt = try #require(response.attempts.first)
    #expect(attempt.timings?.firstByte == response.timings.firstByte)
    #expect(attempt.timings?.lastByte != nil)
  }
}
