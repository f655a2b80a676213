import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owners of stored responses, if a credential is added further in than the key.
@Suite(.limited) struct CredentialCoverageTests {
  /// A ticket in a field of its own, with or without a scope.
  private struct TicketBehavior: CredentialBehavior {
    let order = BehaviorOrder.authentication
    let credential = "ticket"
    let user: Box<String>
    var hasScope = false

    func headers(for request: NetworkRequest) async throws -> HeaderFields { ["X-Ticket": user.value] }

    func scope(for request: NetworkRequest) async -> String? { hasScope ? "ticket:\(user.value)" : nil }
  }

  /// A ticket in a field of its own, whose type knows no scope.
  private struct PlainTicketBehavior: CredentialBehavior {
    let order = BehaviorOrder.authentication
    let credential = "ticket"
    let user: Box<String>

    func headers(for request: NetworkRequest) async throws -> HeaderFields { ["X-Ticket": user.value] }
  }

  /// A transport that keeps a cookie for all requests, as URLSession does.
  private struct CookieTransport: Transport {
    let user: Box<String>
    let base: ClosureTransport

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      var sent = request
      if !user.value.isEmpty { sent.headers["Cookie"] = "session=\(user.value)" }
      return try await base.send(sent).bound(to: request)
    }

    func addsCredentials(to request: NetworkRequest) -> Bool { !user.value.isEmpty }

    func shutdown() async {}
  }

  private let user = Box("alice")

  /// Answers with whose credentials came.
  private static func answer(_ request: NetworkRequest) -> NetworkResponse {
    let names = ["X-Ticket", "Authorization", "Cookie", "X-API-Key", "X-App-Token"]
    let own = names.compactMap { request.headers[$0] }.joined(separator: " ")
    let query = request.url.query() ?? ""
    return NetworkResponse(
      request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data((own + query).utf8))
    )
  }

  private let transport = ClosureTransport { CredentialCoverageTests.answer($0) }
  private let store = MemoryCacheStore()
  private let events = Box<[CacheEvent]>([])

  private var caching: CachingBehavior {
    let events = events
    return .caching(store) { event in events.update { $0.append(event) } }
  }

  /// The ways in which a credential without a scope is added further in than the cache.
  enum Way: CaseIterable {
    case ticket, nilScope, headers, modify, intercept, signing, query, pathSecret, environmentField, insideScoped
  }

  private func behavior(_ way: Way) -> any RequestBehavior {
    let user = user
    switch way {
    case .ticket: return PlainTicketBehavior(user: user)
    case .nilScope: return TicketBehavior(user: user)
    case .headers:
      return ClosureBehavior("h", order: .authentication, headers: { _ in ["Authorization": "Bearer \(user.value)"] })
    case .modify:
      return ClosureBehavior("m", modify: { $0.headers.set("X-Ticket", user.value, sensitive: .any) })
    case .intercept:
      return ClosureBehavior("i", order: .authentication) { request, next in
        var request = request
        request.headers["Authorization"] = user.value
        return try await next(request)
      }
    case .signing:
      return ClosureBehavior("s", order: .signing, modify: { $0.headers["Authorization"] = "Signature \(user.value)" })
    case .query:
      return ClosureBehavior(
        "q", modify: { $0.url.append(queryItems: [URLQueryItem(name: "token", value: user.value)]) })
    case .pathSecret:
      return ClosureBehavior(
        "p",
        modify: { request in
          request.call.addSecret(user.value)
          request.url.append(queryItems: [URLQueryItem(name: "v", value: user.value)])
        })
    case .environmentField:
      // The field of an environment that a behavior further in replaces.
      return ClosureBehavior("e", modify: { $0.headers["X-API-Key"] = user.value })
    case .insideScoped:
      // A scope of another behavior does not cover this one's secret.
      return BehaviorGroup([.basicAuth(user: "app", password: "p"), TicketBehavior(user: user)])
    }
  }

  private func get() -> Request<String> {
    .get("me").with(\.environment, ServerEnvironment(baseURL: baseURL, headers: ["X-API-Key": "public"]))
  }

  // MARK: Stored

  @Test(arguments: Way.allCases)
  func `a response to a credential that no key covers is not stored`(way: Way) async throws {
    let client = NetworkClient(transport, [caching, behavior(way)])
    let alice = try await client.send(get())
    user.value = "bob"
    let bob = try await client.send(get())
    #expect(alice.contains("alice"))
    #expect(bob.contains("bob"))
    #expect(!bob.contains("alice"))
    #expect(store.count == 0)
  }

  @Test func `the refusal names the reason`() async throws {
    let client = NetworkClient(transport, [caching, behavior(.ticket)])
    _ = try await client.send(get())
    #expect(events.value.compactMap(\.refusal) == [.unknownOwner])
    #expect(CacheRefusal.unknownOwner.description.contains("without a scope"))
  }

  @Test func `an unknown user's response removes the stored one, and a 304 for that user does not validate it`()
    async throws
  {
    user.value = ""
    let user = user
    let ticket = ClosureBehavior("t", headers: { _ in user.value.isEmpty ? [:] : ["Authorization": user.value] })
    let transport = ClosureTransport { request in
      guard request.headers.contains("If-None-Match") else {
        return NetworkResponse(request: request, statusCode: 200, headers: ["ETag": "\"1\""])
      }
      return NetworkResponse(request: request, statusCode: 304, headers: ["ETag": "\"1\""])
    }
    let client = NetworkClient(transport, [caching, ticket])
    let ask = Request<NetworkResponse>.get("me")
    _ = try await client.send(ask)
    #expect(store.count == 1)
    user.value = "alice"
    let response = try await client.send(ask)
    #expect(response.source == .network)
    #expect(store.count == 0)
  }

  @Test func `a HEAD for an unknown user does not change a stored response`() async throws {
    let user = user
    let ticket = ClosureBehavior(
      "t", headers: { $0.method == .head ? ["Authorization": user.value] : [:] })
    let client = NetworkClient(transport, [caching, ticket])
    _ = try await client.send(Request<String>.get("me"))
    let before = await store.entries(limit: 1).first?.response.receivedAt
    _ = try await client.send(Request<NetworkResponse>.head("me").with(\.caching, .reload))
    #expect(await store.entries(limit: 1).first?.response.receivedAt == before)
  }

  @Test func `the target of a redirect is not stored if the hop before had a credential that no key covers`()
    async throws
  {
    let transport = ClosureTransport { request in
      guard request.url.path().hasSuffix("me") else { return Self.answer(request) }
      return NetworkResponse(
        request: request, statusCode: 302,
        headers: ["Location": "https://cdn.example.com/private", "Cache-Control": "max-age=60"])
    }
    let client = NetworkClient(transport, [caching, behavior(.headers)])
    _ = try await client.send(get())
    #expect(transport.sent.last?.headers.contains("Authorization") == false)
    #expect(store.count == 0)
  }

  @Test func `responses of a transport that adds cookies are not stored, and it gets no response stored without them`()
    async throws
  {
    user.value = ""
    let client = NetworkClient(CookieTransport(user: user, base: transport), [caching])
    _ = try await client.send(get())
    #expect(store.count == 1)
    for name in ["alice", "bob"] {
      user.value = name
      #expect(try await client.send(get()).contains(name))
    }
    #expect(store.count == 1)
    user.value = ""
    #expect(try await client.send(get()) == "public")
    #expect(transport.sent.count == 3)
  }

  // MARK: Covered

  /// Credentials that a scope or the key tells apart.
  enum Covered: CaseIterable {
    case scopedTicket, scopedClosure, token, basic, apiKey, bearer, oauth, oauthWithoutToken, requestField, environment
  }

  private func covered(_ way: Covered) -> (behaviors: [any RequestBehavior], request: Request<String>) {
    let user = user
    switch way {
    case .scopedTicket: return ([TicketBehavior(user: user, hasScope: true)], get())
    case .scopedClosure:
      let closure = ClosureBehavior(
        "c", order: .signing, headers: { _ in ["Authorization": user.value] }, scope: { _ in "closure:\(user.value)" })
      return ([closure], get())
    case .token:
      let session = TokenSession(source: .closure { _ in AccessToken(user.value) })
      return ([.tokenAuth(session)], get())
    case .basic: return ([.basicAuth(user: user.value, password: "p")], get())
    case .apiKey: return ([.apiKey("X-API-Key", user.value)], .get("me"))
    case .bearer: return ([.bearer(user.value)], get())
    case .oauth, .oauthWithoutToken:
      let credentials = way == .oauth ? OAuth1Credentials(token: user.value, secret: "s") : .none
      let session = OAuth1Session(consumer: OAuth1Consumer(key: user.value, secret: "s"), credentials: credentials)
      return ([.oauth1(session)], get())
    case .requestField: return ([], get().with(header: "Authorization", user.value))
    case .environment:
      let environment = ServerEnvironment(baseURL: baseURL, headers: ["X-API-Key": user.value])
      return ([], .get("me").with(\.environment, environment))
    }
  }

  @Test(arguments: Covered.allCases)
  func `responses to a credential that a scope or key covers are stored separately for each user`(way: Covered)
    async throws
  {
    for name in ["alice", "bob"] {
      user.value = name
      let (behaviors, request) = covered(way)
      let client = NetworkClient(transport, [caching] + behaviors)
      let first = try await client.send(request)
      #expect(try await client.send(request) == first)
    }
    #expect(events.value.filter { $0.kind == .hit }.count == 2)
    #expect(transport.sent.count == 2)
    #expect(store.count == 2)
  }

  @Test func `a behavior outside the cache may add any credential, because the key contains it`() async throws {
    let user = user
    let outside = ClosureBehavior("o", order: .request, headers: { _ in ["Authorization": user.value] })
    let client = NetworkClient(transport, [caching, outside])
    for name in ["alice", "alice", "bob", "bob"] {
      user.value = name
      #expect(try await client.send(get()).contains(name))
    }
    #expect(transport.sent.count == 2)
  }

  @Test func `a field without a secret may be added further in`() async throws {
    let client = NetworkClient(transport, [caching, ClosureBehavior(headers: { _ in ["X-Plain": "1"] })])
    for _ in 0..<2 { _ = try await client.send(get()) }
    #expect(transport.sent.count == 1)
  }

  // MARK: Warnings

  private func warnings(_ behaviors: any RequestBehavior...) throws -> [String] {
    try NetworkClient(transport, behaviors).pipeline(for: Request<Void>.get("me")).warnings
  }

  @Test func `a list warns of a credential without a scope, for each behavior that keeps or shares`() throws {
    let warnings = try warnings(caching, .coalescing(), behavior(.ticket))
    let end = "; give it a scope(for:) that tells its users apart"
    #expect(
      warnings == [
        "PlainTicketBehavior adds a credential further in than CoalescingBehavior and gives no scope, so what it is sent with "
          + "is not shared" + end,
        "PlainTicketBehavior adds a credential further in than CachingBehavior and gives no scope, so what it is sent with "
          + "is not stored" + end,
      ])
  }

  @Test func `a list does not warn of a credential with a scope, nor of one that the key contains`() throws {
    let session = TokenSession(source: .closure { _ in AccessToken("t") })
    #expect(try warnings(caching, .coalescing(), .tokenAuth(session), .apiKey("X-API-Key", "k")).isEmpty)
    #expect(try warnings(caching, .coalescing(), .basicAuth(user: "u", password: "p")).isEmpty)
    #expect(try warnings(caching, covered(.oauth).behaviors[0]).isEmpty)
    #expect(try warnings(caching, covered(.scopedClosure).behaviors[0]).isEmpty)
    #expect(try warnings(behavior(.ticket), behavior(.signing)).isEmpty)
  }

  /// A session whose scope is read from a store.
  private struct StoredSession: AccountKnowing {
    let order = BehaviorOrder.authentication
    let credential = "stored"
    let account: String? = nil
    let reads: Box<Int>

    func scope(for request: NetworkRequest) async -> String? {
      reads.update { $0 += 1 }
      return nil
    }
  }

  @Test func `describing a list does not read the signed-in user`() throws {
    let reads = Box(0)
    let pipeline = try NetworkClient(transport, [caching, .coalescing(), StoredSession(reads: reads)])
      .pipeline(for: Request<Void>.get("me"))
    #expect(pipeline.warnings.isEmpty)
    #expect("\(pipeline)".contains("StoredSession"))
    #expect(reads.value == 0)
  }

  @Test func `a closure at the place of authentication or signing counts as a credential`() throws {
    #expect(try warnings(caching, behavior(.headers)).count == 1)
    #expect(try warnings(caching, behavior(.signing)).count == 1)
  }

  @Test func `a request does not change the list's warnings about a credential without a scope`() async throws {
    struct Late: CredentialBehavior {
      let credential = "late"
      let order = BehaviorOrder.authentication
    }
    let client = NetworkClient(transport, [caching, Late()])
    let before = try client.pipeline(for: Request<Void>.get("me")).warnings
    try await client.send(.get("me"))
    #expect(try client.pipeline(for: Request<Void>.get("me")).warnings == before)
    #expect(before.count == 1)
  }

  // MARK: The secret beside the scope

  @Test func `a wrong password does not get the response to the right one`() async throws {
    for password in ["right", "wrong"] {
      let client = NetworkClient(transport, [caching, .basicAuth(user: "u", password: password)])
      _ = try await client.send(get())
    }
    #expect(transport.sent.count == 2)
    let again = NetworkClient(transport, [caching, .basicAuth(user: "u", password: "right")])
    _ = try await again.send(get())
    #expect(transport.sent.count == 2)
  }

  @Test func `a wrong secret of an OAuth token does not get the response to the right one`() async throws {
    for secret in ["right", "wrong", "right"] {
      let session = OAuth1Session(
        consumer: OAuth1Consumer(key: "k", secret: "c"), credentials: OAuth1Credentials(token: "t", secret: secret))
      _ = try await NetworkClient(transport, [caching, .oauth1(session)]).send(get())
    }
    #expect(transport.sent.count == 2)
  }

  @Test func `keys do not show a password, and stores with other digest keys have other digests`() async throws {
    let other = MemoryCacheStore()
    for store in [store, other] {
      let client = NetworkClient(transport, [.caching(store), .basicAuth(user: "u", password: "canary")])
      _ = try await client.send(get())
    }
    let keys = await [store.entries(limit: 1).first?.key, other.entries(limit: 1).first?.key]
    #expect(keys[0]?.discriminator != keys[1]?.discriminator)
    for key in keys { #expect(key?.discriminator.contains("canary") == false) }
  }
}
