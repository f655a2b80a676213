import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A call and the bodies of its responses live as long as something of them is in use, and no longer.
@Suite(.limited) struct CallReleaseTests {
  private let memory = Memory()

  @Test func `an accepted response`() async throws {
    let client = memory.client()
    for _ in 0..<3 { try await client.send(.get("x")) }
    memory.expectAllReleased()
  }

  @Test func `a decoded value`() async throws {
    _ = try await memory.client(body: "7").send(.get("x").returning(Int.self))
    memory.expectAllReleased()
  }

  @Test func `a body that does not fit the type`() async {
    await expectFailure(.decodingFailed) { _ = try await $0.send(.get("x").returning(Int.self)) }
  }

  @Test func `an unacceptable status`() async {
    await expectFailure(.unacceptableStatus, status: 500) { try await $0.send(.get("x")) }
  }

  @Test func `a redirect that is followed`() async throws {
    let client = memory.client { request in
      request.url.lastPathComponent == "a" ? Reply(302, ["Location": "b"]) : Reply(200)
    }
    try await client.send(.get("a"))
    memory.expectAllReleased()
  }

  @Test func `a redirect that cannot be followed`() async {
    let client = memory.client { _ in Reply(302, ["Location": "/loop"]) }
    await expectFailure(.redirectFailed, client) { try await $0.send(.get("a")) }
  }

  @Test func `a replay with a fresh token`() async throws {
    let answers = Box([401, 200])
    let client = memory.client(behaviors: [.tokenAuth(memory.session())]) { _ in
      Reply(answers.update { $0.count > 1 ? $0.removeFirst() : $0[0] })
    }
    try await client.send(.get("x"))
    try await expectAllReleasedWithTheTask()
  }

  /// Expects that all is released when the task has ended that refreshed or removed the token of a request.
  ///
  /// It ends a moment after the request.
  private func expectAllReleasedWithTheTask() async throws {
    _ = try await eventually { memory.callsInUse == 0 }
    memory.expectAllReleased()
  }

  @Test func `a token that the server refuses for good`() async throws {
    let client = memory.client(behaviors: [.tokenAuth(memory.session())]) { _ in Reply(401) }
    do {
      try await client.send(.get("x"))
      Issue.record("nothing was thrown")
    } catch {
      #expect((error as? NetworkError)?.code == .unacceptableStatus)
    }
    try await expectAllReleasedWithTheTask()
  }

  @Test func `a repeated attempt`() async throws {
    let answers = Box([503, 200])
    let again = ClosureBehavior("again", order: .retry) { request, next in
      let response = try await next(request)
      return response.statusCode == 503 ? try await next(request) : response
    }
    let client = memory.client(behaviors: [again]) { _ in Reply(answers.update { $0.removeFirst() }) }
    try await client.send(.get("x"))
    memory.expectAllReleased()
  }

  @Test func `as many attempts as a call may make`() async {
    let forever = ClosureBehavior("forever") { request, next in
      while true { _ = try await next(request) }
    }
    let client = memory.client(behaviors: [forever]) { _ in Reply(503) }
    await expectFailure(.tooManyAttempts, client) { try await $0.send(.get("x")) }
  }

  @Test func `a network error of the transport`() async {
    let client = memory.client { request in
      throw NetworkError(.connectionLost, "gone", request: request, response: memory.response(to: request, Reply(200)))
    }
    await expectFailure(.connectionLost, client) { try await $0.send(.get("x")) }
  }

  @Test func `an error of another type that refers to the request`() async {
    struct Foreign: Error {
      let request: NetworkRequest
    }
    let client = memory.client { throw Foreign(request: $0) }
    await #expect(throws: Foreign.self) { try await client.send(.get("x")) }
    memory.expectAllReleased()
  }

  @Test func `a hook that refuses the response`() async {
    let refusing = ClosureBehavior("refusing", afterSuccess: { _, _ in throw Failure("no") })
    let client = memory.client(behaviors: [refusing])
    await #expect(throws: Failure.self) { try await client.send(.get("x")) }
    memory.expectAllReleased()
  }

  @Test func `a cancelled call`() async throws {
    let clock = ManualClock()
    let client = memory.client { _ in
      try await clock.requestClock.sleep(for: .seconds(1))
      return Reply(200)
    }
    let task = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    memory.expectAllReleased()
  }

  @Test func `a prerequisite request and the request that needed it`() async throws {
    let prerequisite = ClosureBehavior("prerequisite", order: .authentication) { request, next in
      try await next.client().send(.get("first"))
      return try await next(request)
    }
    try await memory.client(behaviors: [prerequisite]).send(.get("x"))
    #expect(memory.callCount == 2)
    memory.expectAllReleased()
  }

  @Test func `a response that no attempt was made for`() async throws {
    let memory = memory
    let short = ClosureBehavior("short") { request, _ in memory.response(to: request, Reply(200)) }
    try await memory.client(behaviors: [short]).send(.get("x"))
    memory.expectAllReleased()
  }

  @Test func `a request that cannot be built`() async {
    let client = memory.client()
    await #expect(throws: NetworkError.self) { try await client.send(.get("../../../x")) }
    memory.expectAllReleased()
  }

  @Test func `an observer that keeps the reports of calls whose requests cannot be built`() async {
    final class Keeping: RequestBehavior, CallObserver {
      let order = BehaviorOrder.observation
      let reports = Box<[CallReport]>([])

      func callEnded(_ report: CallReport) { reports.update { $0.append(report) } }
    }
    struct Weak: Sendable { weak var observer: Keeping? }
    func send() async -> Weak {
      let observer = Keeping()
      let client = memory.client(behaviors: [observer])
      do { try await client.send(.get("../../../x")) } catch {}
      #expect(observer.reports.value.count == 1)
      return Weak(observer: observer)
    }
    let weak = await send()
    #expect(weak.observer == nil)
  }

  @Test func `a kept response keeps its own body, and nothing of the responses before it`() async throws {
    let client = memory.client { request in
      request.url.lastPathComponent == "a" ? Reply(302, ["Location": "b"]) : Reply(200)
    }
    var kept: NetworkResponse? = try await client.send(.get("a"))
    #expect(memory.bodiesInUse == 1)
    #expect(kept?.attempts.map(\.url.lastPathComponent) == ["a", "b"])
    kept = nil
    memory.expectAllReleased()
  }

  @Test func `a kept error keeps its own body, and nothing of the responses before it`() async throws {
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let client = memory.client(behaviors: [again]) { _ in Reply(503) }
    var kept = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(memory.bodiesInUse == 1)
    #expect(kept?.attempts.count == 2)
    kept = nil
    memory.expectAllReleased()
  }

  private func expectFailure(
    _ code: NetworkError.Code, status: Int = 200, _ action: (NetworkClient) async throws -> Void
  ) async {
    await expectFailure(code, memory.client { _ in Reply(status) }, action)
  }

  private func expectFailure(
    _ code: NetworkError.Code, _ client: NetworkClient, _ action: (NetworkClient) async throws -> Void
  ) async {
    do {
      try await action(client)
      Issue.record("nothing was thrown")
    } catch {
      #expect((error as? NetworkError)?.code == code)
    }
    memory.expectAllReleased()
  }
}

/// What a transport is to return.
private struct Reply: Sendable {
  let status: Int
  let headers: HeaderFields

  init(_ status: Int, _ headers: HeaderFields = [:]) {
    self.status = status
    self.headers = headers
  }
}

/// Counts the calls and bodies that are still in use.
private final class Memory: Sendable {
  private struct WeakCall: Sendable {
    let call: @Sendable () -> Call?

    init(_ call: Call) { self.call = { [weak call] in call } }
  }

  private let calls = Box<[WeakCall]>([])
  private let bodies = Box((made: 0, released: 0))

  var callCount: Int { calls.value.count }
  var bodiesInUse: Int { bodies.value.made - bodies.value.released }

  /// A session that gets a new token whenever it needs one.
  func session() -> TokenSession {
    let number = Box(0)
    return TokenSession(
      source: ClosureTokenSource(fetch: { _ in
        number.update { $0 += 1 }
        return AccessToken("t\(number.value)")
      }))
  }

  func client(
    body: String = "body", behaviors: [any RequestBehavior] = [],
    _ reply: @escaping @Sendable (NetworkRequest) async throws -> Reply = { _ in Reply(200) }
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.behaviors.append(.onCallEnd { [calls] report in calls.update { $0.append(WeakCall(report.call)) } })
    let transport = ForgetfulTransport { [self] request in
      response(to: request, try await reply(request), body: body)
    }
    return NetworkClient(configuration: configuration, transport: transport)
  }

  func response(to request: NetworkRequest, _ reply: Reply, body: String = "body") -> NetworkResponse {
    NetworkResponse(
      request: request, statusCode: reply.status, headers: reply.headers, body: .data(countedData(body)))
  }

  private func countedData(_ text: String) -> Data {
    // Short data would be copied into the value itself.
    let text = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 1_000)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    bytes.copyBytes(from: text)
    bodies.update { $0.made += 1 }
    guard let address = bytes.baseAddress else { return Data() }
    return Data(
      bytesNoCopy: address, count: text.count,
      deallocator: .custom { [bodies] address, _ in
        address.deallocate()
        bodies.update { $0.released += 1 }
      })
  }

  var callsInUse: Int { calls.value.count { $0.call() != nil } }

  func expectAllReleased(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(callCount > 0, sourceLocation: sourceLocation)
    #expect(callsInUse == 0, "calls in use", sourceLocation: sourceLocation)
    #expect(bodiesInUse == 0, "bodies in use", sourceLocation: sourceLocation)
  }
}

/// A transport that does not keep requests.
private struct ForgetfulTransport: Transport {
  let answer: @Sendable (NetworkRequest) async throws -> NetworkResponse

  init(_ answer: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) { self.answer = answer }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse { try await answer(request) }

  func shutdown() async {}
}
