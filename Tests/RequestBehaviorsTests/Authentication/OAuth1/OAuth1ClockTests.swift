import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The device's clock is wrong; the service refuses the timestamp and tells its date.
@Suite struct OAuth1ClockTests {
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
      let other = "0\(request.sendNumber) Nov 1994"
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

  @Test func `a slow answer is not taken for a wrong clock`() async {
    clock.setDate(serverDate.addingTimeInterval(-100))
    mock.on().respond { [clock, serverDateField] request in
      clock.advance(by: .seconds(100))
      return NetworkResponse(request: request, statusCode: 401, headers: ["Date": serverDateField])
    }
    try? await client().send(.get("p"))
    #expect(mock.sent.count == 1)
  }

  @Test(arguments: [
    "", "yesterday", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
  ])
  func `without a date that can be read nothing is corrected`(field: String) async {
    mock.on().respond(401, headers: ["Date": field], body: refused)
    try? await client().send(.get("p"))
    #expect(mock.sent.count == 1)
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:01:00 GMT", 60), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
    ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800), ("Fri, 31 Dec 1999 12:00:00 GMT", 946_641_600),
    ("Sun, 28 Feb 2100 00:00:00 GMT", 4_107_456_000), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
  ])
  func `dates are read right around leap days and years`(field: String, timestamp: Int) async throws {
    mock.on().respond(401, headers: ["Date": field], body: refused).times(1).respond(200)
    try await client().send(.get("p"))
    #expect(timestamps.last == timestamp)
  }

  @Test func `over http the date is not believed, unless the session trusts it`() async throws {
    let plain = try #require(URL(string: "http://example.com/"))
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(2).respond(200)
    try? await client(baseURL: plain).send(.get("p"))
    #expect(mock.sent.count == 1)
    try await client(.sample(trustsClockOverHTTP: true), baseURL: plain).send(.get("p"))
    #expect(mock.sent.count == 3)
  }

  @Test func `an answer that is not verified is not believed`() async {
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

  @Test func `a one-shot body that was sent is not sent again, but the clock is known`() async {
    mock.on().respond(401, headers: ["Date": serverDateField], body: refused).times(1).respond(200)
    let client = client()
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("x".utf8)]), contentType: "text/plain"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("p", body: body)) }
    #expect(error?.statusCode == 401)
    try? await client.send(.get("p"))
    #expect(timestamps == [1_000_000_000, 784_111_777])
  }
}
