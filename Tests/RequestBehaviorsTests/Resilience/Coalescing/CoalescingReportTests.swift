import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The report of a call on the shared request that it waited for.
@Suite(.limited) struct CoalescingReportTests {
  private let baseURL = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")
  private let mock: MockTransport

  init() { mock = MockTransport(baseURL: baseURL) }

  /// Puts a key into the path.
  private struct PathKey: RequestBehavior {
    static let key = "pathkey12345"

    func modify(_ request: inout NetworkRequest) async throws {
      request.call.addSecret(PathKey.key)
      request.url = URL(string: "https://api.example.com/v1/\(PathKey.key)/x") ?? request.url
    }
  }

  @Test(arguments: [404, 200]) func `secrets that are added further in are hidden from the caller`(status: Int)
    async throws
  {
    mock.on(.get, "**").respond(status, text: "about \(PathKey.key)")
    let lines = Locked<[String]>([])
    let sink = ClosureLogSink { record in lines.withLock { $0.append(record.line) } }
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.coalescing(), .logging(sink, level: .debug, bodyLimit: 100), PathKey()],
      transport: mock)
    do {
      let response: NetworkResponse = try await client.send(.get("x"))
      #expect(!"\(response) \(response.request.call.attempts)".contains(PathKey.key))
    } catch let error as NetworkError {
      #expect(!"\(error) \(error.attempts)".contains(PathKey.key))
    }
    let written = lines.withLock { $0 }.joined(separator: "\n")
    #expect(written.contains("about REDACTED"))
    #expect(!written.contains(PathKey.key))
  }

  private func client(_ behaviors: [any RequestBehavior], clock: ManualClock = ManualClock()) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  @Test func `retries of a shared request are in the caller's events and log`() async throws {
    mock.on(.get, "x").respond(503).respond(200)
    let lines = Locked<[String]>([])
    let sink = ClosureLogSink { record in lines.withLock { $0.append(record.line) } }
    let clock = ManualClock()
    let client = client([.resilience(), .logging(sink)], clock: clock)
    let response = try await clock.run { try await client.send(Request<NetworkResponse>.get("x")) }
    #expect(response.request.call.events.map(\.kind) == [.retry])
    #expect(lines.withLock { $0 }.first?.contains("RetryBehavior: retry 1 in") == true)
  }

  @Test func `an error of a shared request says why it was not repeated`() async throws {
    mock.on(.get, "x").respond(503, headers: ["Retry-After": "30"])
    let client = client([.resilience(deadline: .deadline(.seconds(2)))])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.description.contains("not repeated: in ") == true)
  }

  @Test func `an error of a shared request names the credentials that were kept back`() async throws {
    mock.on(.get, "https://other.example.com/x").respond(401)
    let session = TokenSession(source: .closure { _ in AccessToken("token-of-the-api") })
    let url = try #require(URL(string: "https://other.example.com/x"))
    for list: [any RequestBehavior] in [[.tokenAuth(session)], [.coalescing(), .tokenAuth(session)]] {
      let error = await #expect(throws: NetworkError.self) { try await client(list).send(.get(url: url)) }
      #expect(error?.description.contains("TokenAuthBehavior kept from https://other.example.com") == true)
    }
  }

  /// Keeps the call of the latest request.
  private struct KeepsCall: RequestBehavior {
    let order = BehaviorOrder.first
    let call = Box<Call?>(nil)

    func beforeSend(_ request: NetworkRequest) async { call.value = request.call }
  }

  @Test func `a wait of a shared request is over for a caller that leaves`() async throws {
    mock.on(.get, "x").respond(503).respond(200)
    let keeper = KeepsCall()
    let clock = ManualClock()
    let client = client([keeper, .coalescing(), .retry()], clock: clock)
    let staying = Task { try await client.send(Request<Void>.get("x")) }
    await clock.waitForSleepers(1)
    let leaving = Task { try await client.send(Request<Void>.get("x")) }
    #expect(try await eventually { keeper.call.value?.events.first?.kind == .coalescing })
    leaving.cancel()
    await #expect(throws: CancellationError.self) { try await leaving.value }
    let retry = try #require(keeper.call.value?.events.first { $0.kind == .retry })
    #expect(!retry.isUnderWay)
    #expect(retry.duration == .zero)
    try await clock.run { try await staying.value }
  }

  @Test func `a recording has each decision of a shared request once`() async throws {
    mock.on(.get, "x").respond(503).respond(200)
    let recorder = CallRecorder()
    let clock = ManualClock()
    let client = client([.resilience(), .recording(recorder)], clock: clock)
    try await clock.run { try await client.send(.get("x")) }
    let decisions = recorder.recording.calls.flatMap(\.decisions).filter { $0.kind == .retry }
    #expect(decisions.count == 1)
  }

  /// Sends a request ten times, one after the other.
  private struct TenTimes: RequestBehavior {
    let order = BehaviorOrder.first

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      for _ in 1..<10 { _ = try await next(request) }
      return try await next(request)
    }
  }

  /// Adds secrets, and a field that is another one each time.
  private struct ManySecrets: RequestBehavior {
    let count = Locked(0)

    func modify(_ request: inout NetworkRequest) async throws {
      for number in 0..<100 { request.call.addSecret("secret-number-\(number)") }
      let number = count.withLock { count in
        count += 1
        return count
      }
      request.headers.set("X-API-Key", "key-number-\(number)")
    }
  }

  @Test func `a call that waits for several shared requests has each secret once`() async throws {
    mock.on(.get, "x").respond(200)
    let client = client([TenTimes(), .coalescing(), ManySecrets()])
    let response = try await client.send(Request<NetworkResponse>.get("x"))
    let secrets = response.request.call.secrets.values(for: .standard)
    #expect(mock.sent.count == 10)
    #expect(Set(secrets).count == 110)
    #expect(secrets.count == 110)
  }
}
