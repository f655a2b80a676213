import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct CachingModeTests {
  private typealias Reply = CacheFixture.Reply

  private func request(_ mode: CachingMode) -> Request<NetworkResponse> { .get("a").with(\.caching, mode) }

  @Test func `a reload passes what is stored over, tells caches on the way, and stores the response`() async throws {
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

  @Test func `a revalidation asks the server about a fresh response, but not about an immutable one`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60", "ETag": "\"a\""])
    try await fixture.send()
    #expect(try await fixture.send(request(.revalidate)).source == .revalidated)
    #expect(fixture.sent[1].headers["Cache-Control"] == "max-age=0")
    let immutable = CacheFixture(["Cache-Control": "max-age=60, immutable", "ETag": "\"a\""])
    try await immutable.send()
    #expect(try await immutable.send(request(.revalidate)).source == .cache)
  }

  @Test func `only-if-cached sends nothing: what is not fresh is a 504`() async throws {
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

  @Test func `a request that prefers what is stale gets it, however old it is`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\""])
    try await fixture.send()
    fixture.wait(100_000)
    let response = try await fixture.send(request(.preferStale))
    #expect(response.source == .stale)
    #expect(try response.text == "body")
    #expect(response.headers["Age"] == "100000")
    #expect(fixture.kinds == [.miss, .stored, .stale])
  }

  @Test func `no-store uses nothing and stores nothing`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send(request(.noStore))
    #expect(fixture.sent[0].headers["Cache-Control"] == "no-store")
    #expect(fixture.refusals == [.requestForbids])
    try await fixture.send()
    #expect(fixture.sent.count == 2)
    try await fixture.send(.get("a", headers: ["Cache-Control": "no-store"]))
    #expect(fixture.sent.count == 3)
  }

  @Test func `the user's own Cache-Control is sent as it is`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send(.get("a", headers: ["Cache-Control": "max-age=7"]).with(\.caching, .reload))
    #expect(fixture.sent[0].headers["Cache-Control"] == "max-age=7")
  }

  @Test(arguments: [500, 502, 503, 504])
  func `RFC 5861 §4: a stale response stands in for a status that says the server failed`(status: Int) async throws {
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
  func `RFC 5861 §4: a stale response stands in where the server cannot be reached`(code: NetworkError.Code)
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
  func `a server that may be another one is not hidden behind a stale response`(code: NetworkError.Code) async throws {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=60, stale-if-error=600"], body: "body"), Reply(fails: code)],
      policy: CachePolicy(staleIfError: .seconds(600)))
    try await fixture.send()
    fixture.wait(90)
    let error = await #expect(throws: NetworkError.self) { try await fixture.send() }
    #expect(error?.code == code)
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `RFC 9111 §4.2.4: what forbids being stale never stands in for a failure`(directive: String) async throws {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=2, \(directive)"]), Reply(fails: .cannotConnect)],
      policy: CachePolicy(staleIfError: .seconds(30)))
    try await fixture.send()
    fixture.wait(3)
    await #expect(throws: NetworkError.self) { try await fixture.send() }
    await #expect(throws: NetworkError.self) { try await fixture.send(request(.preferStale)) }
  }

  @Test func `RFC 9111 §1.2.2: an age beyond 2³¹ seconds is 2³¹`() async throws {
    let fixture = CacheFixture(["ETag": "\"a\"", "Age": "2147483640"])
    try await fixture.send()
    fixture.wait(7)
    #expect(try await fixture.send(request(.preferStale)).headers["Age"] == "2147483647")
    fixture.wait(60)
    #expect(try await fixture.send(request(.preferStale)).headers["Age"] == "2147483648")
  }

  @Test func `a stale response that is larger than the request allows replaces no failure`() async throws {
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

  @Test func `an error of the user's own is not covered by a stale response`() async throws {
    let fixture = CacheFixture(
      [Reply(headers: ["Cache-Control": "max-age=2"]), Reply(fails: .bodyTooLarge)],
      policy: CachePolicy(staleIfError: .seconds(30)))
    try await fixture.send()
    fixture.wait(3)
    await #expect(throws: NetworkError.self) { try await fixture.send() }
  }
}
