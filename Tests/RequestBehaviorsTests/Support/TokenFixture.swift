import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A token server, a clock that stands, and the sessions and clients that use them.
struct TokenFixture {
  let server = TokenServer()
  let clock = ManualClock()

  func session(
    _ source: any TokenSource = .refreshToken(.test), _ store: any TokenStore = InMemoryTokenStore(),
    policy: TokenRefreshPolicy = TokenRefreshPolicy()
  ) -> TokenSession {
    TokenSession(source: source, store: store, policy: policy, clock: clock.requestClock)
  }

  /// A session of Alice's, whose token the server does not accept.
  func alice(_ store: any TokenStore = InMemoryTokenStore()) async throws -> TokenSession {
    let session = session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("alice", lifetime: .seconds(3_600), refreshToken: "r0"))
    return session
  }

  func client(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(server.transport, [.tokenAuth(session)] + behaviors)
  }

  func error(_ task: Task<Void, any Error>) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await task.value }
  }

  /// Signs out while a call is held at a gate, and then opens the gate.
  func signOut(_ session: TokenSession, during task: Task<Void, any Error>, heldAt gate: TestGate) async throws {
    await gate.waitForArrivals(1)
    let signOut = Task { try await session.signOut() }
    #expect(try await error(task).code == .signedOut)
    gate.open()
    try await signOut.value
  }

  /// Makes the API answer with one status after the other, the last one for ever, whatever the token.
  func answer(_ statuses: Int...) {
    let rest = Box(statuses)
    server.state.update { state in
      state.answer = { request in
        let status = rest.update { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return NetworkResponse(request: request, statusCode: status)
      }
    }
  }

  /// The values of the field that carries the token, as the API saw them.
  var sentTokens: [String?] { server.apiRequests.map { $0.headers["Authorization"] } }
}

/// Keeps the scopes of calls, and what has ended.
struct ScopeKeeper: RequestBehavior {
  let order = BehaviorOrder.coalescing
  let scopes = Box<[[String]]>([])
  let ended = Box<[String]>([])
  let kept = Box<[Bool]>([])

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    scopes.update { $0.append(request.call.scopes) }
    let response = try await next(request)
    kept.update { $0.append(request.call.keepsScopes) }
    return response
  }

  func scopeEnded(_ scope: String) async { ended.update { $0.append(scope) } }
}

/// Sends a second time what failed, around the token.
struct SecondAttempt: RequestBehavior {
  let order = BehaviorOrder.outside(.retry)
  var between: @Sendable () async -> Void = {}

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    if let response = try? await next(request), response.isAcceptable { return response }
    await between()
    return try await next(request)
  }
}

/// A store whose operations can be held or refused, and that remembers what was saved.
final class HeldTokenStore: TokenStore {
  private let token: Box<AccessToken?>
  private let onLoad: @Sendable () async -> Void
  private let onSave: @Sendable (AccessToken?) async throws -> Void
  private let counts = Box((loads: 0, saves: [String?]()))

  init(
    _ token: AccessToken? = nil, onLoad: @escaping @Sendable () async -> Void = {},
    onSave: @escaping @Sendable (AccessToken?) async throws -> Void = { _ in }
  ) {
    self.token = Box(token)
    self.onLoad = onLoad
    self.onSave = onSave
  }

  var value: String? { token.value?.value }
  var saves: [String?] { counts.value.saves }
  var loads: Int { counts.value.loads }

  func load() async throws -> AccessToken? {
    counts.update { $0.loads += 1 }
    await onLoad()
    return token.value
  }

  func save(_ new: AccessToken?) async throws {
    try await onSave(new)
    token.value = new
    counts.update { $0.saves.append(new?.value) }
  }
}

extension TokenEvents {
  /// The names of the events up to the first of a name.
  func names(through last: String) async -> [String] {
    var names: [String] = []
    for await event in self {
      names.append(String("\(event)".prefix { $0.isLetter }))
      if names.last == last { break }
    }
    return names
  }

  /// The names of the events that have been published by now; it ends the subscription.
  func namesSoFar() async -> [String] {
    let reading = Task { await names(through: "none") }
    // A stream whose reader is cancelled delivers what it holds, and ends.
    reading.cancel()
    return await reading.value
  }
}
