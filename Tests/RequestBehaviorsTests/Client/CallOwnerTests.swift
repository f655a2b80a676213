import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A behavior that keeps a response checks its owner at that moment.
@Suite(.limited) struct CallOwnerTests {
  private let fixture = TokenFixture()

  /// Keeps responses as a user's behavior would.
  private struct Keeper: RequestBehavior {
    let order = BehaviorOrder.persistence
    let kept = Box<[String]>([])

    func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
      try request.call.owner.verify()
      kept.update { $0.append(request.url.lastPathComponent) }
    }
  }

  /// Acts when a response has come from the server.
  private func afterResponse(_ act: @escaping @Sendable (NetworkRequest) async throws -> Void) -> ClosureBehavior {
    ClosureBehavior("acting", order: .last) { request, next in
      let response = try await next(request)
      if request.url.lastPathComponent != "token" { try await act(request) }
      return response
    }
  }

  /// A session whose user is an app's own, which tells of the end by the public protocol only.
  private final class OwnSession: RequestBehavior {
    let scopeName = Box("alice")
    let endings = Box<ScopeEndings?>(nil)

    func scope(for request: NetworkRequest) -> String? {
      endings.value = request.call.scopeEndings
      return scopeName.value
    }

    func signOut() async { await endings.value?.end(scopeName.value) }
  }

  @Test func `a response that comes after the sign-out is not kept, and the call fails as signed out`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let keeper = Keeper()
    let client = fixture.client(session, keeper, afterResponse { _ in try await session.signOut() })
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .signedOut)
    #expect(error?.request?.url.lastPathComponent == "a")
    #expect(keeper.kept.value == [])
  }

  @Test func `an error with a response that comes after the sign-out brings no response to those who share it`()
    async throws
  {
    fixture.answer(200)
    let session = try await fixture.alice()
    let refusing = ClosureBehavior("refusing", order: .last) { request, next in
      let response = try await next(request)
      guard request.url.lastPathComponent != "token" else { return response }
      try await session.signOut()
      var error = NetworkError(.invalidRequest, "refused")
      (error.request, error.response) = (request, response)
      throw error
    }
    let client = fixture.client(session, .coalescing(), refusing)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .signedOut)
    #expect(error?.response == nil)
  }

  @Test func `a response that comes after another user signed in is not kept`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let keeper = Keeper()
    let client = fixture.client(
      session, keeper, afterResponse { _ in try await session.signIn(AccessToken("bob", lifetime: .seconds(60))) })
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .signedOut)
    #expect(keeper.kept.value == [])
  }

  @Test func `a response that comes after a refresh is kept`() async throws {
    let session = try await fixture.alice()
    let keeper = Keeper()
    try await fixture.client(session, keeper).send(.get("a"))
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(keeper.kept.value == ["a"])
  }

  @Test func `after a sign-out the response of the next user is kept`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let keeper = Keeper()
    let client = fixture.client(session, keeper)
    try await client.send(.get("a"))
    try await session.signOut()
    try await session.signIn(AccessToken("bob", lifetime: .seconds(60)))
    try await client.send(.get("b"))
    #expect(keeper.kept.value == ["a", "b"])
  }

  @Test func `a call that began before a sign-in belongs to the user whose token it was sent with`() async throws {
    fixture.answer(200)
    let session = fixture.session(.closure { _ in AccessToken("app", lifetime: .seconds(60)) })
    let keeper = Keeper()
    let signOut = Box(false)
    let client = fixture.client(
      session, keeper, afterResponse { _ in if signOut.value { try await session.signOut() } })
    try await client.send(.get("a"))
    try await session.signOut()
    signOut.value = true
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("b")) }
    #expect(error?.code == .signedOut)
    #expect(keeper.kept.value == ["a"])
  }

  @Test func `a response to a call signed by OAuth 1 is not kept after the sign-out`() async throws {
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: "ck", secret: "cs"),
      credentials: OAuth1Credentials(token: "tk", secret: "ts"))
    let keeper = Keeper()
    let client = NetworkClient(
      ClosureTransport(), [.oauth1(session), keeper, afterResponse { _ in session.signOut() }])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .signedOut)
    #expect(keeper.kept.value == [])
  }

  @Test func `a custom session ends the calls of its own scope only`() async throws {
    let session = OwnSession()
    let keeper = Keeper()
    let client = NetworkClient(
      ClosureTransport(),
      [session, keeper, afterResponse { if $0.url.lastPathComponent == "a" { await session.signOut() } }])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .signedOut)
    // The same name once more is the same user again.
    try await client.send(.get("b"))
    #expect(keeper.kept.value == ["b"])
  }

  @Test func `the end of another scope keeps a call's owner, even thousands of ends`() async throws {
    let session = OwnSession()
    let keeper = Keeper()
    let count = Box(0)
    let client = NetworkClient(
      ClosureTransport(),
      [
        session, keeper,
        afterResponse { request in
          for index in 0..<count.value { await request.call.scopeEndings?.end("other \(index)") }
        },
      ])
    count.value = 5_000
    try await client.send(.get("a"))
    // So many cannot be told apart any more: the call is taken for one of theirs.
    count.value = 200_001
    await #expect(throws: NetworkError.self) { try await client.send(.get("b")) }
    count.value = 0
    try await client.send(.get("c"))
    #expect(keeper.kept.value == ["a", "c"])
  }

  @Test func `calls that share a request get no response of it after the sign-out`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let (gate, events) = (TestGate(), RecordedEvents())
    let client = fixture.client(session, .coalescing(), events, afterResponse { _ in await gate.pass() })
    let calls = (0..<3).map { _ in Task { try await client.send(.get("a")) } }
    await gate.waitForArrivals(1)
    await events.waitFor(2, "joined")
    try await session.signOut()
    gate.open()
    for call in calls { #expect(try await fixture.error(call).code == .signedOut) }
  }

  @Test func `a shared response of a user who signed in meanwhile is not kept after that sign-out`() async throws {
    fixture.answer(200)
    let session = fixture.session(.signInOnly)
    let kept = Box(0)
    let keeping = ClosureBehavior(
      "keeping", order: .request,
      afterSuccess: { _, request in
        try request.call.owner.verify()
        kept.update { $0 += 1 }
        try await session.signOut()
        #expect(throws: NetworkError.self) { try request.call.owner.verify() }
      })
    let signingIn = ClosureBehavior("signing in", modify: { _ in try await session.signIn(AccessToken("alice")) })
    let client = fixture.client(session, CoalescingBehavior(), keeping, signingIn)
    try await client.send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer alice"])
    #expect(kept.value == 1)
  }

  @Test func `calls whose requests were merged get no response after the sign-out`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let batch = BatchBehavior(
      size: 2, group: { _ in "all" }, merge: { $0[0] },
      split: { response, requests in requests.map { _ in .success(response) } })
    let client = fixture.client(session, batch, afterResponse { _ in try await session.signOut() })
    let calls = ["a", "b"].map { path in Task { try await client.send(.get("\(path)")) } }
    for call in calls { #expect(try await fixture.error(call).code == .signedOut) }
  }

  @Test func `a cache stores no response that comes after the sign-out, and the call gets it`() async throws {
    fixture.server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: 200, headers: ["Cache-Control": "max-age=60"]) }
    }
    let session = try await fixture.alice()
    let store = MemoryCacheStore()
    let refusals = Box<[CacheRefusal?]>([])
    let client = fixture.client(
      session,
      .caching(store) { event in if event.kind == .notStored { refusals.update { $0.append(event.refusal) } } },
      afterResponse { _ in try await session.signOut() })
    try await client.send(.get("a"))
    #expect(store.count == 0)
    #expect(refusals.value.count == 1)
  }

  @Test func `the pages of one user do not continue for another`() async throws {
    fixture.server.state.update { state in
      state.answer = {
        NetworkResponse(
          request: $0, statusCode: 200, headers: ["Link": "<\($0.url.path())x>; rel=next"], body: .data(Data("1".utf8)))
      }
    }
    let session = try await fixture.alice()
    var pages = fixture.client(session).pages(Request<Int>.get("a")).makeAsyncIterator()
    #expect(try await pages.next()?.value == 1)
    #expect(try await pages.next()?.value == 1)
    try await session.signIn(AccessToken("bob", lifetime: .seconds(60)))
    let error = await #expect(throws: NetworkError.self) { try await pages.next() }
    #expect(error?.code == .signedOut)
    #expect(fixture.server.apiRequests.count == 2)
  }
}
