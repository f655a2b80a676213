import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

struct QuotaExhausted: Error {}

final class QuotaBehavior {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var remaining: Int?
}

extension QuotaBehavior: RequestBehavior {
  func modify(_ request: inout NetworkRequest) throws {
    if lock.withLock({ remaining }) == 0 { throw QuotaExhausted() }
  }

  func afterSuccess(
    _ response: NetworkResponse, for request: NetworkRequest
  ) {
    let left = response.headers["X-RateLimit-Remaining"]
    lock.withLock { remaining = left.flatMap { Int($0) } }
  }

  func reset() { lock.withLock { remaining = nil } }
}

struct OnceMoreBehavior {}

extension OnceMoreBehavior: RequestBehavior {
  var order: BehaviorOrder { .retry }

  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    let response = try await next(request)
    guard response.statusCode == 503, request.method.isIdempotent
    else { return response }
    try await request.call.clock.sleep(for: .seconds(1))
    return try await next(request)
  }
}

enum HasReplayed: CallKey { static let defaultValue = false }

func isFirstReplay(_ request: NetworkRequest) -> Bool {
  request.call.update(HasReplayed.self) { hasReplayed in
    defer { hasReplayed = true }
    return !hasReplayed
  }
}

struct KeyBehavior {
  let key: String
}

extension KeyBehavior: CredentialBehavior {
  var order: BehaviorOrder { .request }
  var credential: String { "key" }

  func headers(for request: NetworkRequest) -> HeaderFields {
    var headers = HeaderFields()
    headers.set("X-API-Key", key, sensitive: origins)
    return headers
  }
}

enum Weight: RequestOption { static let defaultValue = 0 }

extension RequestOptions {
  var weight: Int {
    get { self[Weight.self] }
    set { self[Weight.self] = newValue }
  }
}

extension RequestBehavior where Self == KeyBehavior {
  static func key(_ key: String) -> KeyBehavior {
    KeyBehavior(key: key)
  }
}

let keyed = NetworkClient(
  baseURL: baseURL, behaviors: [.key("s3cret"), .logging()])

@Suite(.limited) struct WritingABehaviorTests {
  @Test func `the quota refuses to ask when nothing is left, until it is reset`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [QuotaBehavior()],
      transport: answering("{}", headers: ["X-RateLimit-Remaining": "0"]))
    try await client.send(.get("x"))
    await #expect(throws: QuotaExhausted.self) { try await client.send(.get("x")) }
    await client.reset()
    try await client.send(.get("x"))
  }

  @Test func `the repetition waits a second on the clock`() async throws {
    let clock = ManualClock()
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "x").respond(503).respond(200)
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [OnceMoreBehavior()])
    configuration.clock = clock.requestClock
    let client = NetworkClient(
      configuration: configuration, transport: mock)
    async let answer: Void = client.send(.get("x"))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    try await answer
    #expect(mock.sent.count == 2)
  }

  @Test func `the closure, the option and the keyed client work`() async throws {
    let english = ClosureBehavior(
      "english", headers: { _ in ["Accept-Language": "en"] })
    let mock = answering("{}")
    let client = NetworkClient(baseURL: baseURL, behaviors: [english, .key("s3cret")], transport: mock)
    try await client.send(.get("feed").with(\.weight, 1))
    #expect(mock.sent[0].headers["Accept-Language"] == "en")
    #expect(mock.sent[0].options.weight == 1)
    #expect(mock.sent[0].headers.field(named: "X-API-Key")?.isSensitive == true)
    #expect(try keyed.pipeline(for: Request<Void>.get("x")).entries.count == 3)
    let request = NetworkRequest(url: baseURL)
    #expect(isFirstReplay(request))
    #expect(!isFirstReplay(request))
  }
}
