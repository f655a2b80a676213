import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Refusals without an effect on the server: repeated with any method, and followed by a pause.
@Suite(.limited) struct RefusalTests {
  private let clock = LeapingClock()

  private func sends(_ status: Int, _ method: RequestMethod, _ headers: HeaderFields, _ policy: RetryPolicy) async
    -> Int
  {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? status : 200, headers: number == 1 ? headers : [:])
    })
    let retry = RetryBehavior(policy, budget: .unlimited, random: { 0 })
    try? await NetworkClient(transport, clock.requestClock, [retry]).send(Request<Void>(method, "x"))
    return transport.sent.count
  }

  @Test(arguments: [RequestMethod.post, .patch, .get])
  func `a request that was answered 429 is repeated, whatever its method`(method: RequestMethod) async {
    #expect(await sends(429, method, ["Retry-After": "30"], .standard) == 2)
    #expect(clock.sleeps == [.seconds(30)])
    #expect(await sends(429, method, [:], .standard) == 2)
  }

  @Test func `a POST that was answered 503 may have taken effect, also with a Retry-After`() async {
    #expect(await sends(503, .post, ["Retry-After": "1"], .standard) == 1)
    let policy = RetryPolicy(refusals: RefusalPolicy(statusesWithDelay: [503]))
    #expect(await sends(503, .post, ["Retry-After": "1"], policy) == 2)
    #expect(await sends(503, .post, [:], policy) == 1)
  }

  @Test func `a 403 with a Retry-After is repeated where it is set as a refusal`() async {
    let policy = RetryPolicy(refusals: RefusalPolicy(statusesWithDelay: [403]))
    #expect(await sends(403, .post, ["Retry-After": "5"], policy) == 2)
    #expect(clock.sleeps == [.seconds(5)])
    #expect(await sends(403, .get, ["Retry-After": "5"], policy) == 2)
    #expect(await sends(403, .get, [:], policy) == 1)
    #expect(await sends(403, .get, ["Retry-After": "0"], policy) == 1)
    #expect(await sends(403, .get, ["Retry-After": "5"], .standard) == 1)
    let usedUp: HeaderFields = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"]
    #expect(await sends(403, .post, usedUp, policy) == 2)
  }

  @Test func `a status that is no longer a refusal is repeated only if method and status allow it`() async {
    let policy = RetryPolicy(refusals: RefusalPolicy(statuses: []))
    #expect(await sends(429, .post, [:], policy) == 1)
    #expect(await sends(429, .get, [:], policy) == 2)
    #expect(await sends(421, .get, [:], policy) == 1)
  }

  @Test func `a policy without 429 among its statuses does not repeat it`() async {
    #expect(await sends(429, .get, [:], RetryPolicy(statuses: [503])) == 1)
  }

  @Test func `the server may forbid the repeat of a refused request`() async {
    #expect(await sends(429, .post, ["x-should-retry": "false"], .standard) == 1)
  }

  @Test func `a refusal that may not come from the server does not count`() async throws {
    let transport = ClosureTransport {
      NetworkResponse(request: $0, statusCode: 429, headers: ["Retry-After": "1"], isVerified: false)
    }
    let client = NetworkClient(transport, clock.requestClock, [RetryBehavior(budget: .unlimited)])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("x")) }
    #expect(transport.sent.count == 1)
    #expect(RefusalPolicy.standard.isRefusal(try #require(error?.response)) == false)
  }

  @Test(arguments: [
    (429, true), (421, true), (403, false), (503, false), (500, false), (200, false),
  ])
  func `by default 421 and 429 refuse a request`(status: Int, isRefusal: Bool) {
    let response = NetworkResponse(
      request: NetworkRequest(url: baseURL), statusCode: status, headers: ["Retry-After": "5"])
    #expect(RefusalPolicy.standard.isRefusal(response) == isRefusal)
    #expect(RefusalPolicy(statusesWithDelay: [403]).isRefusal(response) == (isRefusal || status == 403))
  }

  @Test func `a rate limit pauses for the refusals that it is given`() async throws {
    let refusals = RefusalPolicy(statusesWithDelay: [403])
    for (behavior, end) in [
      (RateLimitBehavior.rateLimit(10, burst: 10, refusals: refusals), 30), (.rateLimit(10, burst: 10), 0),
    ] {
      let clock = LeapingClock()
      let transport = ClosureTransport(numbered: { number, request in
        NetworkResponse(request: request, statusCode: number == 1 ? 403 : 200, headers: ["Retry-After": "30"])
      })
      let client = NetworkClient(transport, clock.requestClock, [behavior])
      await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
      try await client.send(.get("x"))
      #expect(clock.now == .seconds(end))
    }
  }
}
