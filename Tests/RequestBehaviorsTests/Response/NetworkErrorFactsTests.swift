import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An error's facts about a repeat, and the server's words about the failure.
@Suite(.limited) struct NetworkErrorFactsTests {
  private func error(
    _ status: Int, _ headers: HeaderFields = [:], _ body: String = "", isVerified: Bool = true
  ) async throws -> NetworkError {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: status, headers: headers, body: .data(Data(body.utf8)), isVerified: isVerified)
    }
    return try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport).send(.get("x", headers: ["Authorization": "Bearer s3cr3t-value"]))
    }
  }

  @Test(arguments: [
    (NetworkError.Code.cannotConnect, true), (.dnsFailed, true), (.connectionLost, true), (.truncatedBody, true),
    (.timedOut, true), (.transportFailed, true), (.circuitOpen, true), (.rateLimited, true), (.offline, true),
    (.gateClosed, true), (.concurrencyLimited, true), (.deadlineExceeded, true), (.intercepted, true),
    (.tlsFailed, false), (.badResponse, false), (.invalidURL, false), (.tooManyAttempts, false),
    (.redirectFailed, false), (.bodyTooLarge, false), (.decodingFailed, false), (.clientShutDown, false),
  ])
  func `an error says whether the same request may succeed later`(code: NetworkError.Code, isTransient: Bool) {
    #expect(NetworkError(code, "").isTransient == isTransient)
  }

  @Test(
    arguments: [(503, "", true), (400, #"{"error":"invalid_grant"}"#, false), (nil, "", true)] as [(Int?, String, Bool)]
  )
  func `a call without a token may succeed later if the cause is temporary`(
    status: Int?, body: String, isTransient: Bool
  ) async throws {
    let transport = ClosureTransport { request in
      guard let status else { throw NetworkError(.cannotConnect, "refused") }
      return NetworkResponse(request: request, statusCode: status, body: .data(Data(body.utf8)))
    }
    let endpoint = TokenEndpoint("oauth/token", clientID: "tool", clientSecret: "s3cr3t")
    let client = NetworkClient(transport, [.tokenAuth(TokenSession(source: .clientCredentials(endpoint)))])
    let error = try await #require(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error.code == .tokenUnavailable)
    #expect(error.isTransient == isTransient)
  }

  @Test(arguments: [(408, true), (425, true), (429, true), (500, true), (503, true), (400, false), (501, false)])
  func `a status says whether the same request may succeed later`(status: Int, isTransient: Bool) async throws {
    #expect(try await error(status).isTransient == isTransient)
  }

  @Test(
    arguments: [
      (529, ["Retry-After": "3"], true), (403, ["Retry-After": "3"], true), (404, ["x-should-retry": "true"], true),
      (503, ["x-should-retry": "false"], false),
      (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3"], false),
    ] as [(Int, HeaderFields, Bool)])
  func `fields of a response say whether the same request may succeed later`(
    status: Int, headers: HeaderFields, isTransient: Bool
  ) async throws {
    #expect(try await error(status, headers).isTransient == isTransient)
  }

  @Test func `the fields of an unverified response do not say whether the same request may succeed later`() async throws
  {
    #expect(try await !error(403, ["Retry-After": "3"], isVerified: false).isTransient)
  }

  @Test(arguments: [
    (NetworkError.Code.cannotConnect, false), (.dnsFailed, false), (.tlsFailed, false), (.invalidURL, false),
    (.circuitOpen, false), (.rateLimited, false), (.timedOut, true), (.connectionLost, true),
    (.truncatedBody, true), (.deadlineExceeded, true), (.unacceptableStatus, true), (.tooManyAttempts, true),
  ])
  func `an error says whether the server may have acted`(code: NetworkError.Code, mayHaveArrived: Bool) {
    #expect(NetworkError(code, "").mayHaveArrived == mayHaveArrived)
  }

  @Test func `the progress that the transport reports takes precedence over the code`() {
    var error = NetworkError(.timedOut, "")
    error.progress = NetworkError.Progress(.notSent)
    #expect(!error.mayHaveArrived)
    error = NetworkError(.cannotConnect, "")
    error.progress = NetworkError.Progress(.sent)
    #expect(error.mayHaveArrived)
  }

  @Test func `an attempt before the last one may have arrived, too`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 1 else { return NetworkResponse(request: request, statusCode: 503) }
      throw NetworkError(.cannotConnect, "refused")
    })
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let error = try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport, [again]).send(.post("x"))
    }
    #expect(error.code == .cannotConnect)
    #expect(error.mayHaveArrived)
    let alone = ClosureTransport { _ in throw NetworkError(.cannotConnect, "refused") }
    let first = try await #require(throws: NetworkError.self) { try await NetworkClient(alone).send(.post("x")) }
    #expect(!first.mayHaveArrived)
  }

  @Test(arguments: [(NetworkError.Progress.Stage.notSent, false), (.sent, true)])
  func `an attempt before the last one has not arrived if it timed out before it had a connection`(
    stage: NetworkError.Progress.Stage, mayHaveArrived: Bool
  ) async throws {
    let transport = ClosureTransport(numbered: { number, _ in
      var error = NetworkError(.timedOut, "slow")
      error.progress = NetworkError.Progress(number == 1 ? stage : .notSent)
      throw error
    })
    let policy = RetryPolicy(maximumRetries: 1, backoff: Backoff(base: .zero))
    let error = try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport, [.retry(policy)]).send(.put("x"))
    }
    #expect(error.attempts.count == 2)
    #expect(error.mayHaveArrived == mayHaveArrived)
  }

  @Test func `an attempt before a refusal without a send may have arrived`() async throws {
    let transport = ClosureTransport { _ in throw NetworkError(.timedOut, "slow") }
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try? await next(request)
      return try await next(request)
    }
    let breaker = CircuitBreaker(CircuitPolicy(minimumRequests: 1))
    let error = try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport, [again, .circuitBreaker(breaker)]).send(.post("x"))
    }
    #expect(error.code == .circuitOpen)
    #expect(error.mayHaveArrived)
  }

  @Test func `an error tells the date that the server named`() async throws {
    let start = Date()
    let date = try #require(try await error(503, ["Retry-After": "60"]).availableAt)
    #expect(date.timeIntervalSince(start) > 59)
    #expect(date.timeIntervalSince(start) < 120)
    #expect(try await error(503).availableAt == nil)
    #expect(try await error(503, ["Retry-After": "60"], isVerified: false).availableAt == nil)
  }

  @Test(arguments: ["X-Request-ID", "request-id", "x-amzn-RequestId", "X-GitHub-Request-Id"])
  func `an error tells the server's name for the request`(field: String) async throws {
    #expect(try await error(500, [field: "r-1"]).serverRequestID == "r-1")
    #expect(try await error(500, [field: "r-1"], isVerified: false).serverRequestID == nil)
  }

  @Test func `problem details are read, and the message contains title and detail without secrets`() async throws {
    let body = """
      {"type": "https://e.example/out-of-credit", "title": "You do not have enough credit.", "status": 403,
       "detail": "token=abcdefgh123 and Bearer s3cr3t-value", "instance": "/a/1", "balance": 30}
      """
    let error = try await error(403, ["Content-Type": "application/problem+json; charset=utf-8"], body)
    let problem = try #require(error.problem)
    #expect(problem.type == "https://e.example/out-of-credit")
    #expect(problem.status == 403)
    #expect(problem.instance == "/a/1")
    #expect(error.message.contains("You do not have enough credit."))
    #expect(!error.description.contains("abcdefgh123"))
    #expect(!error.description.contains("s3cr3t-value"))
  }

  @Test func `half a secret at the end of a detail or a challenge is hidden`() async throws {
    let secret = "s3cr3t-value"
    let detail = String(repeating: "x ", count: 124) + secret
    let headers: HeaderFields = ["Content-Type": "application/problem+json"]
    let problem = try await error(422, headers, #"{"detail": "\#(detail)"}"#)
    #expect(problem.message.contains("x x"))
    #expect(!"\(problem)".contains("s3cr3t"))
    let text = String(repeating: "x ", count: 76) + secret
    let challenge = try await error(401, ["WWW-Authenticate": #"Bearer error_description="\#(text)""#])
    #expect(challenge.message.contains("x x"))
    #expect(!"\(challenge)".contains("s3cr3t"))
  }

  @Test func `members of a wrong type are ignored, and other bodies have no problem details`() async throws {
    let headers: HeaderFields = ["Content-Type": "application/problem+json"]
    let odd = try #require(try await error(400, headers, #"{"title": 7, "status": "x", "type": null}"#).problem)
    #expect(odd.type == "about:blank")
    #expect(odd.title == nil)
    #expect(odd.status == nil)
    #expect(try await error(400, headers, "[1]").problem == nil)
    #expect(try await error(400, headers, "{").problem == nil)
    #expect(try await error(400, ["Content-Type": "application/json"], #"{"title": "t"}"#).problem == nil)
    #expect(try await error(400, headers, #"{"title": "t"}"#, isVerified: false).message.contains("t\"") == false)
    let long = String(repeating: "x", count: 70_000)
    #expect(try await error(400, headers, #"{"title": "\#(long)"}"#).problem == nil)
  }

  @Test(arguments: [false, true])
  func `a call without a token may have arrived only if a send was made before`(isSent: Bool) async throws {
    let clock = ManualClock()
    let session = TokenSession(
      source: .closure { _ in
        // The error of another call, such as that of a client of the source's own.
        throw NetworkError(.tokenUnavailable, "a test", request: NetworkRequest(.post, url: baseURL))
      })
    if isSent {
      try await session.signIn(
        AccessToken("token", expiresAt: clock.date.addingTimeInterval(600), refreshToken: "more"))
    }
    let transport = ClosureTransport { request in
      clock.advance(by: .seconds(3_600))
      throw NetworkError(.connectionLost, "a test", request: request)
    }
    let client = NetworkClient(
      transport, clock.requestClock, [.tokenAuth(session), RetryBehavior(budget: .unlimited, random: { 0 })])
    let post = Request<NetworkResponse>.post("pay").with(\.idempotencyKey, .generated)
    let error = await #expect(throws: NetworkError.self) {
      try await clock.run { try await client.send(post) }
    }
    #expect(error?.code == .tokenUnavailable)
    #expect(error?.mayHaveArrived == isSent)
    #expect(transport.sent.count == (isSent ? 1 : 0))
  }
}
