import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

extension RequestBehavior where Self == BehaviorGroup {
  static var house: BehaviorGroup {
    BehaviorGroup(TenantBehavior(tenant: "a"), .acceptLanguage())
  }
}

private struct AuditBehavior {}

extension AuditBehavior: RequestBehavior {}

private struct TwiceBehavior {}

extension TwiceBehavior: RequestBehavior {
  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    let response = try await next(request)
    guard response.statusCode == 503 else { return response }
    return try await next(request)
  }
}

struct TicketBehavior {
  let holder: String
  let ticket: String
}

extension TicketBehavior: CredentialBehavior {
  var order: BehaviorOrder { .authentication }
  var credential: String { "ticket" }

  func scope(for request: NetworkRequest) -> String? {
    applies(to: request) ? "ticket:\(holder)" : nil
  }

  func headers(for request: NetworkRequest) -> HeaderFields {
    HeaderFields([.init("X-Ticket", ticket, sensitive: origins)])
  }
}

private struct Gate: Sendable {
  func opened() async {}
}

private struct GateBehavior {
  let gate: Gate
}

extension GateBehavior: RequestBehavior {
  func modify(_ request: inout NetworkRequest) async throws {
    try await request.call.wait { await gate.opened() }
  }
}

/// Keeps the errors that it is told.
private final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  private var errors: [any Error] = []

  var count: Int { lock.withLock { errors.count } }

  func append(_ error: any Error) { lock.withLock { errors.append(error) } }
}

/// The samples in the reference of behaviors.
@Suite(.limited) struct BehaviorReferenceTests {
  private let mock = MockTransport(baseURL: baseURL)

  @Test func `the pipeline lists the members of a group`() throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.house], transport: mock)
    let names = try client.pipeline(for: Request<Void>.get("x")).entries.map(\.name)
    #expect(names.contains("TenantBehavior"))
    #expect(!names.contains("BehaviorGroup"))
  }

  @Test func `a behavior is put at another place`() throws {
    // Once for every hop, where it would be once for all of them.
    let audit = AuditBehavior().ordered(.inside(.redirects))
    let client = NetworkClient(baseURL: baseURL, behaviors: [audit], transport: mock)
    let names = try client.pipeline(for: Request<Void>.get("x")).entries.map(\.name)
    #expect(names == ["RedirectsBehavior", "AuditBehavior"])
  }

  @Test func `closures observe, set fields and repeat`() async throws {
    actor Log {
      var statuses: [Int] = []
      func append(_ status: Int) { statuses.append(status) }
    }
    let log = Log()
    let audit = ClosureBehavior(
      "audit",
      afterSuccess: { response, _ in
        await log.append(response.statusCode)
      })
    let english = ClosureBehavior(
      "english", headers: { _ in ["Accept-Language": "en"] })
    let again = ClosureBehavior("again", order: .retry) { request, next in
      let response = try await next(request)
      guard response.statusCode == 503 else { return response }
      return try await next(request)
    }
    mock.on().respond(503).respond(200)
    let client = NetworkClient(baseURL: baseURL, behaviors: [audit, english, again], transport: mock)
    try await client.send(.get("x"))
    #expect(await log.statuses == [200])
    #expect(mock.sent.map { $0.headers["Accept-Language"] } == ["en", "en"])
  }

  @Test func `an intercept calls next twice`() async throws {
    mock.on().respond(503).respond(200)
    try await NetworkClient(baseURL: baseURL, behaviors: [TwiceBehavior()], transport: mock).send(.get("x"))
    #expect(mock.sent.count == 2)
  }

  @Test func `errors become the API's own`() async throws {
    struct APIError: Error, Decodable { var title: String }
    do {
      let client = NetworkClient(
        baseURL: baseURL,
        behaviors: [
          .mapError { error in
            (try? (error as? NetworkError)?.decode(APIError.self)) ?? error
          }
        ])
      mock.on().respond(422, jsonText: #"{"title": "taken"}"#)
      let mocked = NetworkClient(configuration: client.configuration, transport: mock)
      let error = await #expect(throws: APIError.self) { try await mocked.send(.get("x")) }
      #expect(error?.title == "taken")
    }
  }

  @Test func `fields are set by several behaviors of one type`() async throws {
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .headers(["X-Client": "shop-ios"]),
        .acceptLanguage(["da", "en"]),
        .headers("clock") { request in
          ["X-Sent-At": request.call.clock.date().formatted(.iso8601)]
        },
      ])
    mock.on().respond()
    try await NetworkClient(configuration: client.configuration, transport: mock).send(.get("x"))
    let fields = try #require(mock.sent.first?.headers)
    #expect(fields["X-Client"] == "shop-ios")
    #expect(fields["Accept-Language"] == "da, en;q=0.9")
    let sentAt = try #require(fields["X-Sent-At"])
    #expect(abs(try Date(sentAt, strategy: .iso8601).timeIntervalSinceNow) < 3_600)
  }

  @Test func `a key is sent, and a ticket`() async throws {
    let key = "s3cret"
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.apiKey("X-API-Key", key)])
    mock.on().respond()
    try await NetworkClient(configuration: client.configuration, transport: mock)
      .send(Request<Void>.get("x").with(TicketBehavior(holder: "me", ticket: "t1")))
    let fields = try #require(mock.sent.first?.headers)
    #expect(fields["X-API-Key"] == "s3cret")
    #expect(fields["X-Ticket"] == "t1")
  }

  @Test func `a closure that adds a credential gives a scope too`() async throws {
    mock.on().respond()
    let user = (id: "7", ticket: "t1")
    let ticket = ClosureBehavior(
      "ticket", order: .authentication,
      headers: { _ in
        HeaderFields([.init("X-Ticket", user.ticket, sensitive: .baseURL)])
      },
      scope: { _ in "ticket:\(user.id)" })
    let client = NetworkClient(baseURL: baseURL, behaviors: [ticket], transport: mock)
    let response: NetworkResponse = try await client.send(.get("x"))
    #expect(response.request.call.scopes == ["ticket:7"])
    #expect(mock.sent.first?.headers["X-Ticket"] == "t1")
  }

  @Test func `a wait of a behavior ends when its gate opens`() async throws {
    mock.on().respond()
    try await NetworkClient(baseURL: baseURL, behaviors: [GateBehavior(gate: Gate())], transport: mock).send(.get("x"))
    #expect(mock.sent.count == 1)
  }

  @Test func `a closure is called at the end of a call`() async throws {
    let failures = Failures()
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .onCallEnd { report in
          if let error = report.error { failures.append(error) }
        }
      ])
    mock.on().respond(500)
    let tested = NetworkClient(configuration: client.configuration, transport: mock)
    await #expect(throws: NetworkError.self) { try await tested.send(.get("x")) }
    #expect(failures.count == 1)
  }

  @Test func `retries are listed`() throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry()])
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.first?.order == .retry)
  }

  @Test func `the nonce check is listed`() throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.nonceVerification()])
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.last?.order == .verification)
  }
}
