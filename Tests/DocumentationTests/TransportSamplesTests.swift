import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

final class TableTransport {
  private let pages: [String: String]
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var isShutDown = false

  init(_ pages: [String: String]) { self.pages = pages }
}

extension TableTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    try Task.checkCancellation()
    if lock.withLock({ isShutDown }) {
      throw NetworkError(.clientShutDown, "the table was shut down")
    }
    guard let page = pages[request.url.path()] else {
      return NetworkResponse(request: request, statusCode: 404)
    }
    return NetworkResponse(
      request: request, statusCode: 200,
      headers: ["Content-Type": "application/json"],
      body: .data(Data(page.utf8)))
  }

  func shutdown() async { lock.withLock { isShutDown = true } }
}

struct SlowTransport {
  let inner: any Transport
  let delay: Duration
}

extension SlowTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await request.call.clock.sleep(for: delay)
    try request.call.verifySend(of: request)
    return try await inner.send(request)
  }

  func addsCredentials(to request: NetworkRequest) -> Bool {
    inner.addsCredentials(to: request)
  }

  func shutdown() async { await inner.shutdown() }
  func forgetUser() { inner.forgetUser() }
}

/// The samples of "Writing a transport".
@Suite(.limited) struct TransportSamplesTests {
  @Test func `a table responds to a client`() async throws {
    let table = TableTransport(["/v1/me": #"{"name":"Mona"}"#])
    let client = NetworkClient(baseURL: baseURL, transport: table)
    let user: User = try await client.send(.get("me"))
    #expect(user.name == "Mona")
    let other: User? = try await client.send(.get("you").nilWhenNotFound())
    #expect(other == nil)
  }

  @Test func `a table transport keeps the rules that need no connection`() async {
    let report = await TransportConformance.run(
      excluding: TransportConformance.cases(
        about: .connections, excludedBecause: "it responds itself")
    ) { _ in
      TableTransport(["/": "{}"])
    }
    #expect(report.failures.isEmpty, "\(report)")
    #expect(report.exclusions.count < report.outcomes.count)
  }

  /// Notes which of its members are called.
  private struct InnerTransport: Transport {
    let calls = Journal()

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      calls.note("send")
      return NetworkResponse(request: request, statusCode: 204)
    }

    func addsCredentials(to request: NetworkRequest) -> Bool {
      calls.note("addsCredentials")
      return true
    }

    func shutdown() async { calls.note("shutdown") }
    func forgetUser() { calls.note("forgetUser") }
  }

  @Test func `a transport that wraps another hands everything on`() async throws {
    let inner = InnerTransport()
    let slow = SlowTransport(inner: inner, delay: .zero)
    let request = NetworkRequest(url: baseURL)
    #expect(slow.addsCredentials(to: request))
    #expect(try await slow.send(request).statusCode == 204)
    slow.forgetUser()
    await slow.shutdown()
    #expect(inner.calls.entries == ["addsCredentials", "send", "forgetUser", "shutdown"])
  }

  @Test func `a slow transport waits by the clock of the call`() async throws {
    let mock = answering(#"{"name":"Mona"}"#)
    let clock = ManualClock()
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock.requestClock
    let client = NetworkClient(
      configuration: configuration, transport: SlowTransport(inner: mock, delay: .seconds(2)))
    async let user: User = client.send(.get("me"))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    #expect(try await user.name == "Mona")
  }

  @Test func `a slow transport does not send the request of a user who has signed out`() async throws {
    let (inner, clock) = (InnerTransport(), ManualClock())
    let session = TokenSession(source: .signInOnly)
    try await session.signIn(AccessToken("token"))
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session)])
    configuration.clock = clock.requestClock
    let client = NetworkClient(
      configuration: configuration, transport: SlowTransport(inner: inner, delay: .seconds(2)))
    let call = Task { try await client.send(.get("me")) as NetworkResponse }
    await clock.waitForSleepers(1)
    try await session.signOut()
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .signedOut)
    #expect(!inner.calls.entries.contains("send"))
  }

  func body(
    of pieces: AsyncThrowingStream<Data, any Error>,
    for request: NetworkRequest, close: @escaping @Sendable () -> Void
  ) async throws -> ResponseBody {
    let stream = ByteStream(pieces, onCancel: close)
    if request.options.delivery == .streamed { return .stream(stream) }
    let limit = request.options.bodyLimit
    return .data(try await stream.collect(upTo: limit))
  }

  @Test func `a body is read into memory up to its limit`() async throws {
    let closed = Journal()
    var request = NetworkRequest(url: baseURL)
    request.options.bodyLimit = 3
    func pieces(_ texts: String...) -> AsyncThrowingStream<Data, any Error> {
      AsyncThrowingStream { pieces in
        for text in texts { pieces.yield(Data(text.utf8)) }
        pieces.finish()
      }
    }
    guard case .data(let data) = try await body(of: pieces("ab", "c"), for: request, close: { closed.note("closed") })
    else { throw CancellationError() }
    #expect(data == Data("abc".utf8))
    #expect(closed.entries.isEmpty)
    let error = await #expect(throws: NetworkError.self) {
      _ = try await body(of: pieces("ab", "cd"), for: request, close: { closed.note("closed") })
    }
    #expect(error?.code == .bodyTooLarge)
    #expect(closed.entries == ["closed"])
  }
}
