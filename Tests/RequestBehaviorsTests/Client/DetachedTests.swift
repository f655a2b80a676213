import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Work with a call of its own, and responses that are shared or stored.
@Suite(.limited) struct DetachedTests {
  private let clock = ManualClock()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  @Test func `a detached place in the list can be used after intercept has returned`() async throws {
    let later = Box<Task<NetworkResponse, any Error>?>(nil)
    let behavior = ClosureBehavior("own", order: .caching) { request, next in
      later.value = next.detached().start(request)
      return NetworkResponse(request: request, statusCode: 204)
    }
    let journal = Journal()
    let transport = ClosureTransport(200, "fresh")
    let inner = JournalBehavior(name: "in", journal: journal)
    let response: NetworkResponse = try await client(transport, behavior, inner).send(.get("x"))
    #expect(response.statusCode == 204)
    let fresh = try await #require(later.value).value
    #expect(try fresh.text == "fresh")
    #expect(journal.count(of: "in.afterSuccess") == 1)
    #expect(fresh.request.call !== response.request.call)
    #expect(fresh.request.call.parent == response.request.call.id)
  }

  @Test func `a detached call has its parent's options and scopes, but not its deadline or sends`()
    async throws
  {
    let behavior = ClosureBehavior("own", order: .coalescing) { request, next in
      request.call.deadline = .seconds(1)
      _ = try await next(request)
      let detached = next.detached()
      let response = try await detached(request)
      #expect(detached.call.deadline == nil)
      #expect(detached.call.attemptCount == 1)
      #expect(request.call.attemptCount == 1)
      #expect(detached.call.options.nilWhenNotFoundIsSet)
      #expect(detached.call.scopes == ["basic:user"])
      return response.bound(to: request)
    }
    let found: Int? = try await client(ClosureTransport(404), behavior, .basicAuth(user: "user", password: "p4ssword"))
      .send(Request<Int?>.get("x").nilWhenNotFound())
    #expect(found == nil)
  }

  @Test func `observers are notified of a detached call's beginning and end`() async throws {
    let reports = ReportKeeper()
    let behavior = ClosureBehavior("own", order: .coalescing) { request, next in
      try await next.detached()(request).bound(to: request)
    }
    try await client(ClosureTransport(), reports, behavior).send(.get("x"))
    #expect(reports.all.map { $0.call.parent == nil } == [false, true])
    #expect(reports.all[0].call.parent == reports.all[1].call.id)
    await #expect(throws: NetworkError.self) {
      try await client(ClosureTransport(500), reports, behavior).send(.get("x"))
    }
    #expect(reports.all.compactMap { ($0.error as? NetworkError)?.statusCode } == [500, 500])
  }

  @Test func `a detached call for its callers' outcome is not reported as another call, but its sends are`()
    async throws
  {
    let (reports, attempts) = (ReportKeeper(), Box(0))
    let counting = AttemptCounter(count: attempts)
    let behavior = ClosureBehavior("own", order: .coalescing) { request, next in
      try await next.detached(isForCallers: true)(request).bound(to: request)
    }
    try await client(ClosureTransport(), reports, counting, behavior).send(.get("x"))
    #expect(reports.all.map { $0.call.parent == nil } == [true])
    #expect(attempts.value == 1)
  }

  private struct AttemptCounter: CallObserver {
    let order = BehaviorOrder.observation
    let count: Box<Int>
    func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) { count.update { $0 += 1 } }
  }

  @Test func `shutdown ends detached work that waits, and refuses more`() async throws {
    let started = Box<[Task<NetworkResponse, any Error>]>([])
    let place = Box<DetachedNext?>(nil)
    let behavior = ClosureBehavior("own", order: .caching) { request, next in
      place.value = next.detached()
      started.update { $0.append(next.detached().start(request)) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let clock = ManualClock()
    let patient = ClosureBehavior("patient") { request, next in
      try await request.call.wait { try await clock.requestClock.sleep(for: .seconds(1)) }
      return try await next(request)
    }
    let client = client(ClosureTransport(), behavior, patient)
    try await client.send(.get("x"))
    await clock.waitForSleepers(1)
    await client.shutdown()
    let first = try #require(started.value.first)
    let error = await #expect(throws: NetworkError.self) { try await first.value }
    #expect(error?.code == .clientShutDown)
    let more = try #require(place.value)
    let refused = await #expect(throws: NetworkError.self) {
      try await more.start(NetworkRequest(url: baseURL)).value
    }
    #expect(refused?.code == .clientShutDown)
  }

  @Test(arguments: [false, true])
  func `a cancelled place sends no request`(isAwaited: Bool) async throws {
    let result = Box<Task<NetworkResponse, any Error>?>(nil)
    let behavior = ClosureBehavior("own", order: .caching) { request, next in
      let place = next.detached()
      place.cancel()
      result.value = place.start(request, isAwaited: isAwaited)
      return NetworkResponse(request: request, statusCode: 200)
    }
    let transport = ClosureTransport()
    try await client(transport, behavior).send(.get("x"))
    let task = try #require(result.value)
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.sent.isEmpty)
  }

  @Test func `cancelling a place ends its work`() async throws {
    let clock = ManualClock()
    let place = Box<DetachedNext?>(nil)
    let tasks = Box<[Task<NetworkResponse, any Error>]>([])
    let behavior = ClosureBehavior("own", order: .caching) { request, next in
      let detached = next.detached()
      place.value = detached
      for _ in 0..<2 { tasks.update { $0.append(detached.start(request)) } }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let transport = ClosureTransport { _ in
      try await clock.requestClock.sleep(for: .seconds(1))
      throw URLError(.unknown)
    }
    try await client(transport, behavior).send(.get("x"))
    await clock.waitForSleepers(2)
    place.value?.cancel()
    for task in tasks.value { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test func `a one-shot body belongs to its own call, and a detached call does not send it`() async throws {
    let behavior = ClosureBehavior("own", order: .coalescing) { request, next in
      try await next.detached()(request).bound(to: request)
    }
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("once".utf8)])))
    let error = await #expect(throws: NetworkError.self) {
      try await client(ClosureTransport(), behavior).send(.post("x", body: body))
    }
    #expect(error?.code == .invalidBehavior)
    #expect(error?.message.contains("one-shot") == true)
  }

  // MARK: - Responses of other calls

  @Test func `a response of another call is refused, and the error names the behavior`() async throws {
    let kept = Box<NetworkResponse?>(nil)
    let naive = ClosureBehavior("naive cache", order: .caching) { request, next in
      if let response = kept.value { return response }
      let response = try await next(request)
      kept.value = response
      return response
    }
    let client = client(ClosureTransport(), naive)
    try await client.send(.get("x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .invalidBehavior)
    #expect(error?.message.contains("naive cache") == true)
    #expect(error?.message.contains("bound(to:") == true)
  }

  @Test func `a bound response is judged by the call that receives it and keeps the URL as sent`() async throws {
    let kept = Box<NetworkResponse?>(nil)
    let cache = ClosureBehavior("cache", order: .caching) { request, next in
      if let response = kept.value { return response.bound(to: request) }
      let response = try await next(request)
      kept.value = response
      return response
    }
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 1 else {
        return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "/moved"])
      }
      return NetworkResponse(request: request, statusCode: 404)
    })
    let client = client(transport, cache)
    let none: Int? = try await client.send(Request<Int?>.get("x").nilWhenNotFound())
    #expect(none == nil)
    let error = await #expect(throws: NetworkError.self) {
      let _: Int? = try await client.send(.get("x"))
    }
    #expect(error?.statusCode == 404)
    #expect(error?.request?.url.path() == "/moved")
  }

  // MARK: - Verification

  @Test func `a response says whether it was verified, unverified or not checked`() async throws {
    let echo = ClosureTransport { request in
      let nonce = request.headers["X-API-Nonce"]
      return NetworkResponse(
        request: request, statusCode: request.url.path().hasSuffix("500") ? 500 : 200,
        headers: nonce.map { request.url.path().hasSuffix("500") ? [:] : ["X-API-Nonce": $0] } ?? [:])
    }
    let all = Request<NetworkResponse>.get("200")
    #expect(try await client(echo).send(all).verification == .none)
    #expect(try await client(echo, .nonceVerification()).send(all).verification == .verified)
    let unverified = await #expect(throws: NetworkError.self) {
      try await client(echo, .nonceVerification()).send(.get("500"))
    }
    #expect(unverified?.response?.verification == .unverified)
    #expect(unverified?.response?.isVerified == false)
  }

  @Test func `a place in the list knows whether a behavior further in verifies`() async throws {
    let seen = Box<[Bool]>([])
    let outer = ClosureBehavior("outer", order: .caching) { request, next in
      seen.update { $0.append(next.verifies(request)) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(ClosureTransport(), outer, .nonceVerification())
    try await client.send(.get("x"))
    try await client.send(.get("x").without(NonceVerificationBehavior.self))
    try await client.send(.get(url: try #require(URL(string: "https://cdn.example/x"))))
    #expect(seen.value == [true, false, false])
  }
}

extension RequestOptions {
  /// Whether a 404 is acceptable under these options.
  fileprivate var nilWhenNotFoundIsSet: Bool { Call(options: self).acceptableStatuses.contains(404) }
}
