import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct Order: Encodable, Sendable {
  var id = 7
}

private struct Payment: Decodable, Sendable {
  var id: Int
}

/// The samples in the reference of what survives a bad network.
@Suite(.limited) struct ResilienceReferenceTests {
  private let mock = MockTransport(baseURL: baseURL)
  private let order = Order()
  private let draft = Issue()

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = .immediate
    return NetworkClient(configuration: configuration, transport: mock)
  }

  // MARK: - Retry

  // Compiled only.
  func `a client retries`() async throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.retry()])
    func me() async throws {
      let user: User = try await client.send(.get("me"))
      print(user)
    }
    _ = me
  }

  @Test func `a policy has more retries`() throws {
    var policy = RetryPolicy.standard
    policy.maximumRetries = 5
    policy.backoff.cap = .seconds(60)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry(policy)])
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.count == 2)
  }

  @Test func `a budget is smaller`() throws {
    let budget = RetryBudget(ratio: 0.1, reserve: 2)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry(budget: budget)])
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.count == 2)
  }

  @Test func `a server refuses with 403`() throws {
    // GitHub refuses with 403, and says when to come back.
    let refusals = RefusalPolicy(statusesWithDelay: [403])
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .retry(RetryPolicy(refusals: refusals)),
        .rateLimit(10, burst: 20, refusals: refusals),
      ])
    #expect(try client.pipeline(for: Request<Void>.get("x")).warnings.isEmpty)
  }

  @Test func `a request has a policy of its own`() async throws {
    let client = client(.retry())
    mock.on(.put, "draft").respond(503)
    await #expect(throws: NetworkError.self) {
      try await client.send(
        .put("draft", body: .json(draft))
          .with(\.retryPolicy, RetryPolicy.none))
    }
    #expect(mock.sent.count == 1)
  }

  @Test func `a payment has an idempotency key`() async throws {
    let client = client(.retry())
    mock.on(.post, "payments").respond(503).respond(201, jsonText: #"{"id": 1}"#)
    let payment: Payment = try await client.send(
      .post("payments", body: .json(order))
        .with(\.idempotencyKey, .value("order-\(order.id)")))
    #expect(payment.id == 1)
    #expect(mock.sent.map { $0.headers["Idempotency-Key"] } == ["order-7", "order-7"])
  }

  @Test func `a decider knows what the API means by a status`() async throws {
    let decider: RetryDecider = { attempt in
      // This API answers 409 while the document is locked.
      guard attempt.response?.statusCode == 409 else {
        return attempt.suggestion
      }
      return .retry(after: .seconds(1))
    }
    mock.on(.put, "draft").respond(409).respond(200)
    try await client(.retry(decider: decider)).send(.put("draft"))
    #expect(mock.sent.count == 2)
  }

  @Test func `events tell of retries`() async throws {
    mock.on(.get, "me").respond(503).respond(200)
    let response: NetworkResponse = try await client(.retry()).send(.get("me"))
    let retries = response.request.call.events
      .filter { $0.kind == .retry }
    #expect(retries.count == 1)
  }

  // MARK: - What a server says

  @Test func `hints tell when to come back`() async throws {
    mock.on(.get, "me").respond(503, headers: ["Retry-After": "7"])
    let response: NetworkResponse = try await client()
      .send(.get("me").with(\.acceptableStatuses, .all))
    let hints = ServerHints(response)
    if let delay = hints.delay { print("busy for \(delay)") }
    #expect(hints.delay == .seconds(7))
  }

  @Test func `problem details have a title`() async throws {
    let client = client()
    mock.on(.get, "me").respond(
      409, jsonText: #"{"title": "Locked"}"#, headers: ["Content-Type": "application/problem+json"])
    var shown: [String] = []
    func show(_ text: String) { shown.append(text) }
    do {
      try await client.send(.get("me"))
    } catch let error as NetworkError {
      show(error.problem?.title ?? "The server could not do that.")
    }
    #expect(shown == ["Locked"])
  }
}
