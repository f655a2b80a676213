import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The device's clock is wrong; the service refuses the timestamp and tells its date.
@Suite(.limited) struct OAuth1ClockTests {
  private let mock = MockTransport()
  private let clock = ManualClock(date: Date(timeIntervalSince1970: 1_000_000_000))
  private let serverDate = Date(timeIntervalSince1970: 784_111_777)
  private let serverDateField = "Sun, 06 Nov 1994 08:49:37 GMT"
  private let refused = Data("oauth_problem=timestamp_refused".utf8)

  private func client(
    _ session: OAuth1Session = .sample(), _ others: [any RequestBehavior] = [], baseURL: URL? = nil
  ) -> NetworkClient {
    var configuration = RequestConfiguration(
      baseURL: baseURL ?? mock.baseURL, behaviors: [.oauth1(session)] + others)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  private var timestamps: [Int] {
    mock.sent.compactMap { OAuth1Verifier.Received($0)["oauth_timestamp"].flatMap(Int.init) }
  }

  @Test func `a refused timestamp is corrected by the service's date, and the request sent again once`() async throws {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(200)
    let client = client()
    try await client.send(.post("p", body: .form(["a": "1"])))
    #expect(timestamps == [1_000_000_000, 784_111_777])
    #expect(Set(mock.sent.map { OAuth1Verifier.Received($0)["oauth_nonce"] }).count == 2)
    var verifier = OAuth1Verifier.sample(now: serverDate)
    #expect(mock.sent.map { verifier.verify(.init($0)) } == [.refused("timestamp_refused"), .accepted])
  }

  @Test func `the correction is kept against the monotonic clock, whatever the device's date does`() async throws {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(200)
    let client = client()
    try await client.send(.get("p"))
    clock.advance(by: .seconds(90))
    clock.setDate(Date(timeIntervalSince1970: 2_000_000_000))
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_867])
    await client.reset()
    try await client.send(.get("p"))
    #expect(timestamps.last == 2_000_000_000)
  }

  @Test func `a second refusal is the outcome, also for a further attempt of the call`() async throws {
    mock.on().respond { [refused] request in
      let other = "0\(request.attemptNumber) Nov 1994"
      return NetworkResponse(
        request: request, statusCode: 401, headers: ["Date": "Sun, \(other) 08:49:37 GMT"], body: .data(refused))
    }
    let twice = ClosureBehavior("twice", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let error = await #expect(throws: NetworkError.self) { try await client(.sample(), [twice]).send(.get("p")) }
    #expect(error?.statusCode == 401)
    #expect(mock.sent.count == 3)
  }

  @Test(arguments: [503, 429, 500, 403])
  func `after a failure other than a refused signature a retry still uses the service's time`(status: Int) async throws
  {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(status).times(1)
      .respond(200)
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let client = client(.sample(), [again])
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777])
    // A date that led to a success is kept for later requests.
    try await client.send(.get("p").without(ClosureBehavior.self))
    #expect(timestamps.last == 784_111_777)
  }

  @Test func `after a lost connection a retry still uses the service's time`() async throws {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).fail(.connectionLost).times(1)
      .respond(200)
    let again = ClosureBehavior("again", order: .retry) { request, next in
      do { return try await next(request) } catch { return try await next(request) }
    }
    try await client(.sample(), [again]).send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777])
  }

  @Test func `a clock that a retry finds refused is not used again in the call`() async throws {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(503).times(1)
      .respond(401).times(1).respond(200)
    let thrice = ClosureBehavior("thrice", order: .retry) { request, next in
      _ = try await next(request)
      _ = try await next(request)
      return try await next(request)
    }
    try await client(.sample(), [thrice]).send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777, 1_000_000_000])
  }

  @Test(arguments: [
    (401, "", true), (400, "oauth_problem=timestamp_refused", true), (400, "", false),
    (403, "timestamp_refused", false),
    (500, "timestamp_refused", false),
  ])
  func `a 401, and a 400 that says so, may refuse the timestamp`(status: Int, body: String, repeats: Bool) async {
    mock.on().respond(status, headers: ["Date": serverDateField], body: Data(body.utf8)).times(1).respond(200)
    try? await client().send(.get("p"))
    #expect(mock.sent.count == (repeats ? 2 : 1))
  }

  @Test func `the reason may be in the challenge`() async throws {
    mock.on().respond(
      400, headers: ["Date": serverDateField, "WWW-Authenticate": "OAuth oauth_problem=\"timestamp_refused\""]
    ).times(1).respond(200)
    try await client().send(.get("p"))
    #expect(mock.sent.count == 2)
  }

  @Test(arguments: [
    (59.0, "", false), (61, "", true), (-61, "", true), (1, "timestamp_refused", false), (3, "timestamp_refused", true),
  ])
  func `a clock that is right is not corrected`(seconds: Double, body: String, repeats: Bool) async {
    clock.setDate(serverDate.addingTimeInterval(seconds))
    mock.on().respond(401, headers: ["Date": serverDateField], body: Data(body.utf8)).times(1).respond(200)
    try? await client().send(.get("p"))
    #expect(mock.sent.count == (repeats ? 2 : 1))
  }

  @Test func `a slow response is not mistaken for a wrong clock`() async {
    clock.setDate(serverDate.addingTimeInterval(-100))
    mock.on().respond { [clock, serverDateField] request in
      clock.advance(by: .seconds(100))
      return NetworkResponse(request: request, statusCode: 401, headers: ["Date": serverDateField])
    }
    try? await client().send(.get("p"))
    #expect(mock.sent.count == 1)
  }

  @Test(arguments: [
    "", "yesterday", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
  ])
  func `without a readable date the clock is not corrected`(field: String) async {
    mock.on().respond(401, headers: ["Date": field], body: refused)
    try? await client().send(.get("p"))
    #expect(mock.sent.count == 1)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `a date is read in each of the three forms of HTTP`(field: String) async throws {
    mock.on().respond(401, headers: ["Date": field], body: refused).times(1).respond(200)
    try await client().send(.get("p"))
    #expect(timestamps.last == 784_111_777)
  }

  @Test func `over http the date is used only if the session trusts it`() async throws {
    let plain = try #require(URL(string: "http://example.com/"))
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(2).respond(200)
    try? await client(baseURL: plain).send(.get("p"))
    #expect(mock.sent.count == 1)
    try await client(.sample(trustsClockOverHTTP: true), baseURL: plain).send(.get("p"))
    #expect(mock.sent.count == 3)
  }

  @Test func `a response that is not verified is not believed`() async {
    let doubt = ClosureBehavior("doubt", order: .verification) { request, next in
      var response = try await next(request)
      response.isVerified = false
      return response
    }
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused)
    try? await client(.sample(), [doubt]).send(.get("p"))
    #expect(mock.sent.count == 1)
  }

  @Test func `each of several concurrent requests is corrected`() async {
    mock.on(where: { $0.headers["Authorization"]?.contains("oauth_timestamp=\"1000000000\"") == true })
      .respond(401, headers: ["Date": serverDateField], body: refused)
    mock.on().respond(200)
    let client = client()
    let failures = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 { group.addTask { (try? await client.send(.get("p"))) == nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 0)
  }

  @Test func `a one-shot body that was sent is not sent again, and no clock is kept that was not tried`() async {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(2).respond(200)
    let client = client()
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("x".utf8)]), contentType: "text/plain"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("p", body: body)) }
    #expect(error?.statusCode == 401)
    try? await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 1_000_000_000, 784_111_777])
  }

  @Test func `a streamed refusal is cancelled before the request is sent again`() async throws {
    let journal = Journal()
    mock.on().respond { [serverDateField] request in
      // Longer than what is kept of a refusal, and without an end.
      let stream = ByteStream(AsyncStream<Data> { $0.yield(Data(count: 100_000)) }) { journal.note("cancelled") }
      return NetworkResponse(
        request: request, statusCode: 401, headers: ["Date": serverDateField], body: .stream(stream))
    }.times(1).respond(200)
    _ = try await client().stream(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777])
    #expect(journal.entries == ["cancelled"])
  }

  @Test func `the body of a refusal is cancelled before the request is sent again, even if a behavior keeps it`()
    async throws
  {
    let journal = Journal()
    let stream = ByteStream(AsyncStream<Data> { $0.finish() }) { journal.note("cancelled") }
    let transport = ClosureTransport(numbered: { [serverDateField] number, request in
      journal.note("sent")
      guard number == 1 else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(
        request: request, statusCode: 401, headers: ["Date": serverDateField], body: .stream(stream))
    })
    try await NetworkClient(transport, clock.requestClock, [.oauth1(.sample())]).send(.get("p"))
    #expect(journal.entries == ["sent", "cancelled", "sent"])
  }

  @Test func `a device whose date is before 1970 sends the first timestamp that is allowed`() async throws {
    clock.setDate(Date(timeIntervalSince1970: -5))
    mock.on().respond(200)
    try await client().send(.get("p"))
    #expect(timestamps == [1])
  }

  // MARK: What teaches a clock

  @Test(arguments: [
    ("oauth_problem=token_revoked", ""), (#"{"error": "token_revoked"}"#, ""),
    ("", #"OAuth realm="r", oauth_problem="token_revoked""#), ("", "OAuth oauth_problem=nonce_used"),
    ("oauth_problem=token_rejected&oauth_problem_advice=or+timestamp_refused", ""),
    ("oauth_problem=something_new", ""),
  ])
  func `a refusal that names another problem does not change the clock`(body: String, challenge: String) async {
    mock.on().respond(
      401, headers: ["Date": serverDateField, "WWW-Authenticate": challenge], body: Data(body.utf8)
    ).times(1).respond(200)
    let client = client()
    for _ in 0..<2 { try? await client.send(.get("p")) }
    #expect(timestamps == [1_000_000_000, 1_000_000_000])
  }

  @Test(arguments: ["", "oauth_problem=timestamp_refused"])
  func `a service's date is not kept if the resend is refused too`(body: String) async {
    mock.on().respond(401, headers: ["Date": serverDateField], body: Data(body.utf8)).times(2).respond(200)
    let client = client()
    for _ in 0..<2 { try? await client.send(.get("p")) }
    #expect(timestamps == [1_000_000_000, 784_111_777, 1_000_000_000])
  }

  @Test(arguments: [400, 429, 500, 503])
  func `a service's date is kept only after a resend that succeeded`(status: Int) async {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(status).times(1)
      .respond(200)
    let client = client()
    for _ in 0..<2 { try? await client.send(.get("p")) }
    #expect(timestamps == [1_000_000_000, 784_111_777, 1_000_000_000])
  }

  @Test func `a resend whose response is not verified does not change the clock`() async {
    let doubt = ClosureBehavior("doubt", order: .verification) { request, next in
      var response = try await next(request)
      response.isVerified = response.statusCode == 401
      return response
    }
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(200)
    let client = client(.sample(), [doubt])
    for _ in 0..<2 { try? await client.send(.get("p")) }
    #expect(timestamps == [1_000_000_000, 784_111_777, 1_000_000_000])
  }

  @Test func `a corrected request keeps the service's time over a redirect`() async throws {
    mock.on(.get, "p").respond(401, headers: ["Date": serverDateField], body: refused).times(1)
      .respond(302, headers: ["Location": "/q"])
    mock.on(.get, "q").respond(200)
    try await client().send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777])
  }

  // MARK: A learned clock that is refused

  /// Lets a client learn the service's clock, by two sends.
  private func clientThatLearned(_ answers: (MockStub) -> Void) async throws -> NetworkClient {
    answers(mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(200).times(1))
    let client = client()
    try await client.send(.get("p"))
    return client
  }

  @Test(arguments: ["", "Sun, 09 Sep 2001 01:46:40 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"])
  func `when a learned clock is refused by name, the device's is tried again`(date: String) async throws {
    let client = try await clientThatLearned { [refused] stub in
      _ = stub.respond(401, headers: ["Date": date], body: refused).times(1).respond(200)
    }
    try await client.send(.get("p"))
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777, 1_000_000_000, 1_000_000_000])
  }

  @Test(arguments: ["", "Sun, 09 Sep 2001 01:46:40 GMT"])
  func `after a bare 401 the device's clock is tried again, unless the date is the learned one`(date: String)
    async throws
  {
    let client = try await clientThatLearned { stub in
      _ = stub.respond(401, headers: ["Date": date]).times(1).respond(200)
    }
    try await client.send(.get("p"))
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777, 1_000_000_000, 1_000_000_000])
  }

  @Test func `a bare 401 with the learned date does not cause a resend`() async throws {
    let client = try await clientThatLearned { [serverDateField] stub in
      _ = stub.respond(401, headers: ["Date": serverDateField])
    }
    try? await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777])
  }

  @Test func `a learned clock follows a service that sets its clock`() async throws {
    let client = try await clientThatLearned { [refused] stub in
      _ = stub.respond(401, headers: ["Date": "Thu, 01 Jan 2015 00:00:00 GMT"], body: refused).times(1).respond(200)
    }
    try await client.send(.get("p"))
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777, 1_420_070_400, 1_420_070_400])
  }

  @Test func `a learned clock is forgotten if it is refused and the request cannot be sent again`() async throws {
    let client = try await clientThatLearned { [refused] stub in
      _ = stub.respond(401, body: refused).times(1).respond(200)
    }
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("x".utf8)]), contentType: "text/plain"))
    try? await client.send(.post("p", body: body))
    try await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777, 784_111_777, 1_000_000_000])
  }
}
