import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

final class RecentBehavior {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe)
    private var kept: [SharingKey: NetworkResponse] = [:]
}

extension RecentBehavior: RequestBehavior {
  var order: BehaviorOrder { .caching }

  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    guard request.method == .get,
      let key = next.sharingKey(for: request)
    else { return try await next(request) }
    guard let recent = lock.withLock({ kept[key] }) else {
      let response = try await next(request)
      keep(response, for: key, isOwned: next.knowsOwner(of: response))
      return response
    }
    request.call.record(
      "returned the last response", from: "RecentBehavior",
      kind: .caching)
    let place = next.detached()
    place.start(request) { [weak self] result in
      guard let response = try? result.get() else { return }
      self?.keep(response, for: key, isOwned: place.knowsOwner)
    }
    return recent.bound(to: request)
  }

  private func keep(
    _ response: NetworkResponse, for key: SharingKey, isOwned: Bool
  ) {
    // A stream can be read only once.
    guard case .data = response.body else { return }
    lock.withLock {
      // Within the lock, so that no sign-out comes between.
      guard isOwned, response.isAcceptable, response.isVerified,
        response.request.call.keepsScopes
      else { return }
      kept[key] = response
    }
  }

  func scopeEnded(_ scope: String) {
    lock.withLock {
      kept = kept.filter { !$0.key.scopes.contains(scope) }
    }
  }

  func reset() { lock.withLock { kept = [:] } }
}

/// The sample of "A behavior like ours".
@Suite(.limited) struct BehaviorLikeOursTests {
  /// A server that returns the credential of each request.
  private let mock = MockTransport { request in
    NetworkResponse(
      request: request, statusCode: 200, headers: ["Content-Type": "text/plain"],
      body: .data(Data((request.headers["Authorization"] ?? "").utf8)))
  }
  private let session = TokenSession(source: .closure { _ in throw NetworkError(.notSignedIn, "a test") })
  private let client: NetworkClient

  init() {
    client = NetworkClient(baseURL: baseURL, behaviors: [RecentBehavior(), .tokenAuth(session)], transport: mock)
  }

  /// Waits until so many requests were sent.
  private func waitForSends(_ count: Int) async {
    while mock.sent.count < count { await Task.yield() }
  }

  @Test func `the last response comes at once, and a newer one is fetched for the next time`() async throws {
    try await session.signIn(AccessToken("alice"))
    let first: String = try await client.send(.get("me"))
    let second = try await client.response(for: Request<String>.get("me"))
    #expect(first == "Bearer alice")
    #expect(second.value == "Bearer alice")
    #expect(second.http.request.call.events.map(\.message) == ["returned the last response"])
    await waitForSends(2)
  }

  @Test func `another user gets no response of the one before`() async throws {
    try await session.signIn(AccessToken("alice"))
    try await client.send(.get("me"))
    try await session.signOut()
    try await session.signIn(AccessToken("bob"))
    let text: String = try await client.send(.get("me"))
    #expect(text == "Bearer bob")
  }

  @Test func `a response without a known owner is not kept`() async throws {
    let secret = ClosureBehavior("secret", order: .signing) { request, next in
      var request = request
      request.headers.set("X-Secret", "s3cret", sensitive: .baseURL)
      return try await next(request)
    }
    let client = client.with { $0.behaviors.append(secret) }
    try await session.signIn(AccessToken("alice"))
    for _ in 0..<2 { try await client.send(.get("me")) }
    #expect(mock.sent.count == 2)
  }
}
