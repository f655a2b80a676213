import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct CachingBehaviorTests {
  private typealias Reply = CacheFixture.Reply

  @Test func `a fresh response is used without a request, and shows its age`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60", "X": "1"])
    let first = try await fixture.send()
    #expect(first.source == .network)
    #expect(first.info[CacheFacts.self]?.isChanged == true)
    fixture.wait(59)
    let second = try await fixture.send()
    #expect(second.source == .cache)
    #expect(try second.text == "body")
    #expect(second.headers["Age"] == "59")
    #expect(second.headers["X"] == "1")
    #expect(second.headers["Date"] == first.headers["Date"])
    #expect(fixture.sent.count == 1)
    #expect(fixture.kinds == [.miss, .stored, .hit])
    let facts = try #require(second.info[CacheFacts.self])
    #expect(!facts.isChanged)
    #expect(facts.age == .seconds(59))
    #expect(facts.freshnessLeft == .seconds(1))
  }

  @Test func `a stale response is validated, and the 304 makes it fresh and updates its fields`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X": "1", "Y": "1"], body: "body"),
      Reply(headers: ["Cache-Control": "max-age=30", "ETag": "\"a\"", "X": "2"]),
    ])
    try await fixture.send()
    fixture.wait(61)
    let second = try await fixture.send()
    #expect(second.source == .revalidated)
    #expect(second.statusCode == 200)
    #expect(try second.text == "body")
    #expect(second.headers["X"] == "2")
    #expect(second.headers["Y"] == "1")
    #expect(second.headers["Age"] == "0")
    #expect(fixture.sent[1].headers["If-None-Match"] == "\"a\"")
    #expect(!second.request.headers.contains("If-None-Match"))
    fixture.wait(29)
    #expect(try await fixture.send().source == .cache)
    #expect(fixture.sent.count == 2)
    #expect(fixture.kinds == [.miss, .stored, .revalidated, .hit])
  }

  @Test func `the server's new response replaces a stale one`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "old"),
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"b\""], body: "new"),
    ])
    try await fixture.send()
    fixture.wait(61)
    #expect(try await fixture.send().text == "new")
    #expect(try await fixture.send().text == "new")
    #expect(fixture.sent.count == 2)
    #expect(fixture.store.count == 1)
  }

  @Test func `a 304 with another entity tag is not a validation, and the request is sent without conditions`()
    async throws
  {
    let fixture = CacheFixture([
      Reply(headers: ["ETag": "\"a\""], body: "old"), Reply(status: 304, headers: ["ETag": "\"b\""]),
      Reply(headers: ["ETag": "\"b\""], body: "new"),
    ])
    try await fixture.send()
    #expect(try await fixture.send().text == "new")
    #expect(fixture.sent.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", nil])
  }

  @Test
  func `behaviors further in see the 304 of a validation as a success, those further out get the stored response`()
    async throws
  {
    let journal = Journal()
    func note(_ name: String, _ order: BehaviorOrder) -> ClosureBehavior {
      ClosureBehavior(
        name, order: order,
        afterSuccess: { response, _ in journal.note("\(name) \(response.statusCode)") },
        afterFailure: { _, _ in journal.note("\(name) failed") })
    }
    let fixture = CacheFixture(
      [Reply(headers: ["ETag": "\"a\""], body: "body")], note("inner", .middle), note("outer", .persistence))
    try await fixture.send()
    try await fixture.send()
    #expect(journal.entries == ["inner 200", "outer 200", "inner 304", "outer 200"])
  }

  @Test func `a 304 to the caller's own condition passes`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\""])
    try await fixture.send()
    let response = try await fixture.send(.get("a", headers: ["If-None-Match": "\"a\""]))
    #expect(response.statusCode == 304)
    #expect(response.source == .network)
    #expect(fixture.refusals == [.notModified])
  }

  @Test func `RFC 9111 §4.3.4: a 304 to the caller's own condition makes the stored response fresh again`() async throws
  {
    let fixture = CacheFixture(["ETag": "\"a\"", "Cache-Control": "max-age=60"])
    try await fixture.send()
    fixture.wait(61)
    #expect(try await fixture.send(.get("a", headers: ["If-None-Match": "\"a\""])).statusCode == 304)
    fixture.wait(59)
    let response = try await fixture.send()
    #expect(response.source == .cache)
    #expect(try response.text == "body")
    #expect(fixture.sent.count == 2)
  }

  @Test func `a stale response without a validator is a miss, and the new one replaces it`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send()
    fixture.wait(61)
    #expect(try await fixture.send().source == .network)
    #expect(fixture.kinds == [.miss, .stored, .miss, .stored])
    #expect(try await fixture.send().source == .cache)
  }

  @Test func `RFC 9111 §4.3.2: the caller's own condition is evaluated on a fresh response`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\"", "Cache-Control": "max-age=60", "Content-Type": "text/plain"])
    try await fixture.send()
    let same = try await fixture.send(.get("a", headers: ["If-None-Match": "\"x\", \"a\""]))
    #expect(same.statusCode == 304)
    #expect(same.source == .cache)
    #expect(same.headers["ETag"] == "\"a\"")
    #expect(!same.headers.contains("Content-Type"))
    #expect(try same.data.isEmpty)
    let other = try await fixture.send(.get("a", headers: ["If-None-Match": "\"x\""]))
    #expect(other.statusCode == 200)
    #expect(try other.text == "body")
    #expect(fixture.sent.count == 1)
  }

  @Test func `a stored failure is used like a failure of the network`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"], status: 404)
    let strict = fixture.client.with { $0.options.acceptableStatuses = .success }
    for _ in 0..<2 {
      let error = await #expect(throws: NetworkError.self) { try await strict.send(.get("a")) }
      #expect(error?.statusCode == 404)
      #expect(try error?.response?.text == "body")
    }
    #expect(fixture.sent.count == 1)
  }

  @Test func `a HEAD uses what a GET stored, and a response to a HEAD updates it`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "body"),
      Reply(headers: ["Cache-Control": "max-age=90", "ETag": "\"a\"", "X": "2"]),
      Reply(headers: ["ETag": "\"b\""]), Reply(body: "new"),
    ])
    try await fixture.send()
    let head = try await fixture.send(.init(.head, "a"))
    #expect(head.source == .cache)
    #expect(try head.data.isEmpty)
    fixture.wait(61)
    #expect(try await fixture.send(.init(.head, "a")).source == .network)
    let updated = try await fixture.send()
    #expect(updated.source == .cache)
    #expect(updated.headers["X"] == "2")
    #expect(try updated.text == "body")
    fixture.wait(91)
    // About other content, so that what is stored goes.
    try await fixture.send(.init(.head, "a"))
    #expect(try await fixture.send().text == "new")
    #expect(!fixture.sent.contains { $0.headers.contains("If-None-Match") })
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "M-SEARCH"])
  func `an unsafe request makes the stored responses of its URL invalid, unless it failed`(method: String) async throws
  {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60"], body: "old"), Reply(status: 500),
      Reply(status: 201, headers: ["Location": "/v1/b"]), Reply(headers: ["Cache-Control": "max-age=60"], body: "new"),
    ])
    try await fixture.send()
    let unsafe = Request<NetworkResponse>(RequestMethod(rawValue: method), "a")
    try await fixture.send(unsafe)
    #expect(try await fixture.send().text == "old")
    try await fixture.send(unsafe)
    #expect(try await fixture.send().text == "new")
  }

  @Test func `each of several locations that a POST names is invalid`() async throws {
    var locations = HeaderFields()
    for path in ["/v1/x", "/v1/a"] { locations.append("Location", path) }
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60"], body: "old"), Reply(status: 201, headers: locations),
      Reply(body: "new"),
    ])
    try await fixture.send()
    try await fixture.send(.post("c"))
    #expect(try await fixture.send().text == "new")
  }

  @Test func `a response to a POST that represents its URL is stored for GET`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "Content-Location": "/v1/a"], body: "made"), Reply(body: "got"),
    ])
    try await fixture.send(.post("a", body: .text("x")))
    let response = try await fixture.send()
    #expect(response.source == .cache)
    #expect(try response.text == "made")
  }

  @Test func `RFC 10008: the content of a QUERY belongs to its key`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60"], body: "one"),
      Reply(headers: ["Cache-Control": "max-age=60"], body: "two"),
      Reply(body: "none"),
    ])
    func query(_ text: String) -> Request<NetworkResponse> { .init(.query, "a", body: .text(text)) }
    try await fixture.send(query("1"))
    #expect(try await fixture.send(query("2")).text == "two")
    #expect(try await fixture.send(query("1")).text == "one")
    #expect(try await fixture.send(query("2")).text == "two")
    #expect(try await fixture.send().text == "none")
    #expect(fixture.sent.count == 3)
  }

  @Test func `a range of a fresh response is used as a 206, and a 206 is not used as a 200`() async throws {
    let fixture = CacheFixture([
      Reply(status: 206, headers: ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-1/11"], body: "01"),
      Reply(headers: ["Cache-Control": "max-age=60", "A": "1"], body: "0123456789A"),
      Reply(status: 206, body: "network"),
    ])
    let range = { (value: String) in Request<NetworkResponse>.get("a", headers: ["Range": value]) }
    try await fixture.send(range("bytes=0-1"))
    #expect(fixture.refusals == [.partial])
    #expect(try await fixture.send().text == "0123456789A")
    for (value, text) in [("bytes=0-1", "01"), ("bytes=1-", "123456789A"), ("bytes=-1", "A")] {
      let part = try await fixture.send(range(value))
      #expect(part.statusCode == 206)
      #expect(try part.text == text)
      #expect(part.headers["A"] == "1")
      #expect(part.source == .cache)
    }
    #expect(try await fixture.send(range("bytes=0-1")).headers["Content-Range"] == "bytes 0-1/11")
    #expect(try await fixture.send(range("bytes=0-1,3-4")).text == "network")
    #expect(try await fixture.send(range("bytes=99-")).text == "network")
  }
}
