import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The stored responses of a user who signs out after their client was released.
@Suite(.limited) struct CacheSignOutTests {
  private let store = MemoryCacheStore()
  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
  private let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])

  /// The store itself, and one of the user's own over it.
  private func stores() -> [any CacheStore] { [store, FailingStore(store)] }

  @Test func `a sign-out removes the responses of a client that has been released`() async throws {
    for store in stores() {
      try await session.signIn(AccessToken("t1"))
      try await NetworkClient(transport, [.tokenAuth(session), .caching(store)]).send(.get("a"))
      #expect(self.store.count == 1)
      try await session.signOut()
      #expect(self.store.count == 0)
    }
  }

  @Test func `a sign-out removes the responses of a variant that has been released`() async throws {
    let client = NetworkClient(transport, [.tokenAuth(session)])
    for store in stores() {
      try await session.signIn(AccessToken("t1"))
      try await client.with { $0.behaviors.append(.caching(store)) }.send(.get("a"))
      #expect(self.store.count == 1)
      try await session.signOut()
      #expect(self.store.count == 0)
    }
  }

  @Test func `a sign-out removes the responses of a cache that is listed on a request`() async throws {
    let client = NetworkClient(transport, [.tokenAuth(session)])
    for store in stores() {
      try await session.signIn(AccessToken("t1"), as: "anna")
      try await client.send(Request<Void>.get("a").with(.caching(store)))
      #expect(self.store.count == 1)
      try await session.signOut()
      #expect(self.store.count == 0)
    }
  }

  @Test func `a sign-out keeps what a released client stored of another user, and of no user`() async throws {
    let other = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    for (session, path) in [(session, "a"), (other, "b")] {
      try await session.signIn(AccessToken("t-\(path)"))
      let client = NetworkClient(transport, [.tokenAuth(session), .caching(store)])
      try await client.send(.get("\(path)"))
      try await client.send(Request<Void>.get("public").with(\.authentication, .none))
    }
    try await session.signOut()
    #expect(await Set(store.entries(limit: 9).map { $0.key.url.suffix(2) }) == ["/b", "ic"])
    try await other.signOut()
    #expect(store.count == 1)
  }

  @Test func `a sign-out removes the responses of a store once, however many variants use it`() async throws {
    let store = FailingStore(store)
    try await session.signIn(AccessToken("t1"))
    let client = NetworkClient(transport, [.tokenAuth(session), .caching(store)])
    let variants = (0..<3).map { _ in client.with { $0.behaviors.append(EmptyBehavior()) } }
    try await client.send(.get("a"))
    try await session.signOut()
    #expect(store.scopeRemovals.value == 1)
    withExtendedLifetime(variants) {}
  }

  @Test func `a sign-out removes the responses of a store once, not once for each released client`() async throws {
    let store = FailingStore(store)
    try await session.signIn(AccessToken("t1"))
    for _ in 0..<20 { try await NetworkClient(transport, [.tokenAuth(session), .caching(store)]).send(.get("a")) }
    try await session.signOut()
    // The latest client may be there still.
    #expect((1...2).contains(store.scopeRemovals.value))
  }

  @Test func `a sign-out beside thousands of variants does not prevent the storing of another user's response`()
    async throws
  {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let bob = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await session.signIn(AccessToken("t1"))
    try await bob.signIn(AccessToken("t2"))
    let client = NetworkClient(transport, [.caching(store)])
    let alices = client.with { $0.behaviors.append(.tokenAuth(session)) }
    let bobs = client.with { $0.behaviors.append(.tokenAuth(bob)) }
    let variants = (0..<2_100).map { _ in client.with { $0.behaviors.append(EmptyBehavior()) } }
    let calls = [alices, bobs].map { client in Task { try await client.send(.get("a")) } }
    await gate.waitForArrivals(2)
    let signOut = Task { try await session.signOut() }
    try await signOut.value
    gate.open()
    for call in calls { _ = await call.result }
    _ = try await bobs.send(.get("a"))
    #expect(gate.arrivalCount == 2)
    #expect(await store.entries(limit: 9).count == 1)
    withExtendedLifetime(variants) {}
  }

  @Test func `responses that a sign-out could not remove are removed at a later request of another user`() async throws
  {
    let failing = FailingStore(store)
    let client = NetworkClient(transport, [.tokenAuth(session), .caching(failing)])
    try await session.signIn(AccessToken("t1"))
    try await client.send(.get("a"))
    failing.fails.value = true
    try await session.signOut()
    #expect(store.count == 1)
    try await session.signIn(AccessToken("t2"))
    failing.fails.value = false
    try await client.send(.get("b"))
    #expect(await store.entries(limit: 9).map { $0.key.url.suffix(2) } == ["/b"])
    #expect(try await client.send(Request<NetworkResponse>.get("b")).source == .cache)
  }

  @Test func `responses that cannot be removed after a sign-out do not block the cache for other users`() async throws {
    let failing = FailingStore(store)
    let client = NetworkClient(transport, [.tokenAuth(session), .caching(failing)])
    let other = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let others = NetworkClient(transport, [.tokenAuth(other), .caching(failing)])
    try await session.signIn(AccessToken("t1"))
    try await other.signIn(AccessToken("t2"))
    try await client.send(.get("a"))
    try await others.send(.get("a"))
    failing.fails.value = true
    try await session.signOut()
    #expect(try await others.send(Request<NetworkResponse>.get("a")).source == .cache)
    #expect(store.count == 2)
    failing.fails.value = false
    #expect(try await others.send(Request<NetworkResponse>.get("a")).source == .cache)
    #expect(store.count == 1)
  }

  @Test func `a store that keeps failing after sign-outs is emptied as a whole when it works again`() async throws {
    let failing = FailingStore(store)
    let (cache, client) = (CachingBehavior(failing), NetworkClient(transport, [.caching(failing)]))
    try await client.send(.get("a"))
    failing.fails.value = true
    for number in 0..<1_001 { await cache.scopeEnded("user \(number)") }
    // A response that may belong to a user who is no longer remembered is not used either.
    #expect(try await client.send(Request<NetworkResponse>.get("a")).source == .network)
    failing.fails.value = false
    #expect(try await client.send(Request<NetworkResponse>.get("b")).source == .network)
    #expect(await store.entries(limit: 9).map { $0.key.url.suffix(2) } == ["/b"])
    #expect(try await client.send(Request<NetworkResponse>.get("b")).source == .cache)
    // The owners are not removed one by one.
    #expect(failing.scopeRemovals.value == 1_001)
  }

  @Test func `repeated failed sign-outs of one user do not block the cache for other users`() async throws {
    let failing = FailingStore(store)
    let (cache, client) = (CachingBehavior(failing), NetworkClient(transport, [.caching(failing)]))
    try await client.send(.get("a"))
    failing.fails.value = true
    for number in 0..<2_000 { await cache.scopeEnded("user \(number % 1_000)") }
    #expect(try await client.send(Request<NetworkResponse>.get("a")).source == .cache)
  }

  @Test func `a sign-out does not keep a store in memory alive after its client`() async throws {
    try await session.signIn(AccessToken("t1"))
    weak var released: MemoryCacheStore?
    do {
      let store = MemoryCacheStore()
      released = store
      try await NetworkClient(transport, [.tokenAuth(session), .caching(store)]).send(.get("a"))
      #expect(store.count == 1)
    }
    #expect(released == nil)
    try await session.signOut()
  }
}
