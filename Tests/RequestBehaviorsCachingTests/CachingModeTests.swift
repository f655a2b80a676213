import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct CachingModeTests {
  private typealias Reply = CacheFixture.Reply

  private func request(_ mode: CachingMode) -> Request<NetworkResponse> { .get("a").with(\.caching, mode) }

  @Test func `a reload skips the stored response, sends no-cache, and stores the new response`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "old"),
      Reply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "new"),
    ])
    try await fixture.send()
    #expect(try await fixture.send(request(.reload)).text == "new")
    #expect(fixture.sent[1].headers["Cache-Control"] == "no-cache")
    #expect(!fixture.sent[1].headers.contains("If-None-Match"))
    #expect(try await fixture.send().text == "new")
    #expect(fixture.sent.count == 2)
  }

  @Test func `a revalidation validates a fresh response, except an immutable one`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60", "ETag": "\"a\""])
    try await fixture.send()
    #expect(try await fixture.send(request(.revalidate)).source == .revalidated)
    #expect(fixture.sent[1].headers["Cache-Control"] == "max-age=0")
    let immutable = CacheFixture(["Cache-Control": "max-age=60, immutable", "ETag": "\"a\""])
    try await immutable.send()
    #expect(try await immutable.send(request(.revalidate)).source == .cache)
  }

  @Test func `only-if-cached sends nothing: without a fresh response the outcome is a 504`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60", "ETag": "\"a\""])
    #expect(try await fixture.send(request(.onlyIfCached)).statusCode == 504)
    #expect(fixture.sent.isEmpty)
    try await fixture.send()
    #expect(try await fixture.send(request(.onlyIfCached)).statusCode == 200)
    #expect(
      try await fixture.send(.get("a", headers: ["Range": "bytes=99-"]).with(\.caching, .onlyIfCached)).statusCode
        == 504)
    fixture.wait(61)
    let response = try await fixture.send(.get("a", headers: ["Cache-Control": "only-if-cached"]))
    #expect(response.statusCode == 504)
    #expect(response.source == .cache)
    #expect(fixture.sent.count == 1)
  }

  @Test func `a request that prefers stale responses gets one, however old it is`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\""])
    try await fixture.send()
    fixture.wait(100_000)
    let response = try await fixture.send(request(.preferStale))
    #expect(response.source == .stale)
    #expect(try response.text == "body")
    #expect(response.headers["Age"] == "100000")
    #expect(fixture.kinds == [.miss, .stored, .stale])
  }

  @Test func `no-store neither uses nor stores a response`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send(request(.noStore))
    #expect(fixture.sent[0].headers["Cache-Control"] == "no-store")
    #expect(fixture.refusals == [.requestForbids])
    try await fixture.send()
    #expect(fixture.sent.count == 2)
    try await fixture.send(.get("a", headers: ["Cache-Control": "no-store"]))
    #expect(fixture.sent.count == 3)
  }

  @Test func `the caller's own Cache-Control is sent unchanged`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send(.get("a", headers: ["Cache-Control": "max-age=7"]).with(\.caching, .reload))
    #expect(fixture.sent[0].headers["Cache-Control"] == "max-age=7")
  }

  @Test(arguments: [500, 502, 503, 504])
  func `RFC 5861 §4: a stale response replaces a status of a failed server`(status: Int) async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"a\""], body: "body"),
      Reply(status: status),
    ])
    try await fixture.send()
    fixture.wait(90)
    let response = try await fixture.send()
    #expect(response.statusCode == 200)
    #expect(try response.text == "body")
    #expect(response.source == .stale)
    fixture.wait(1)
    #expect(try await fixture.send().statusCode == status)
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .dnsFailed, .connectionLost, .timedOut, .truncatedBody])
  func `RFC 5861 §4: a stale response replaces the error of an unreachable server`(code: NetworkError.Code)
    async throws
  {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=60"], body: "body"), Reply(fails: code)],
      policy: CachePolicy(staleIfError: .seconds(30)))
    try await fixture.send()
    fixture.wait(90)
    #expect(try await fixture.send().source == .stale)
    fixture.wait(1)
    let error = await #expect(throws: NetworkError.self) { try await fixture.send() }
    #expect(error?.code == code)
    #expect(try await fixture.send(.get("a").with(\.staleIfError, .seconds(99))).source == .stale)
  }

  @Test(arguments: [NetworkError.Code.tlsFailed, .badResponse, .intercepted])
  func `a stale response does not hide that the server may be another one`(code: NetworkError.Code) async throws {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=60, stale-if-error=600"], body: "body"), Reply(fails: code)],
      policy: CachePolicy(staleIfError: .seconds(600)))
    try await fixture.send()
    fixture.wait(90)
    let error = await #expect(throws: NetworkError.self) { try await fixture.send() }
    #expect(error?.code == code)
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `RFC 9111 §4.2.4: a response that may not be used stale does not replace a failure`(directive: String)
    async throws
  {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=2, \(directive)"]), Reply(fails: .cannotConnect)],
      policy: CachePolicy(staleIfError: .seconds(30)))
    try await fixture.send()
    fixture.wait(3)
    await #expect(throws: NetworkError.self) { try await fixture.send() }
    await #expect(throws: NetworkError.self) { try await fixture.send(request(.preferStale)) }
  }

  @Test func `RFC 9111 §1.2.2: an age beyond 2³¹ seconds is read as 2³¹`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\"", "Age": "2147483640"])
    try await fixture.send()
    fixture.wait(7)
    #expect(try await fixture.send(request(.preferStale)).headers["Age"] == "2147483647")
    fixture.wait(60)
    #expect(try await fixture.send(request(.preferStale)).headers["Age"] == "2147483648")
  }

  @Test func `a failure is not replaced by a stale response that exceeds the request's limit`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60, stale-if-error=600"], body: "body"),
      Reply(status: 503, body: "no"), Reply(fails: .cannotConnect),
    ])
    try await fixture.send()
    fixture.wait(90)
    let small = Request<NetworkResponse>.get("a").with(\.bodyLimit, 3)
    let response = try await fixture.send(small)
    #expect(response.statusCode == 503)
    #expect(try response.text == "no")
    let error = await #expect(throws: NetworkError.self) { try await fixture.send(small) }
    #expect(error?.code == .cannotConnect)
    #expect(try await fixture.send().source == .stale)
  }

  @Test func `a stale response does not replace the error for a body that is too large`() async throws {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=2"]), Reply(fails: .bodyTooLarge)],
      policy: CachePolicy(staleIfError: .seconds(30)))
    try await fixture.send()
    fixture.wait(3)
    await #expect(throws: NetworkError.self) { try await fixture.send() }
  }
}
