import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// The samples of "Two accounts at a time".
@Suite(.limited) struct TwoAccountsSamplesTests {
  private let mock = MockTransport(baseURL: URL(string: "https://id.example/"))
  private let annasStore = InMemoryTokenStore(AccessToken("A"))
  private let bensStore = InMemoryTokenStore(AccessToken("B"))
  private let homeStore = InMemoryTokenStore()
  private let workStore = InMemoryTokenStore()
  private var baseURL: URL { mock.baseURL }
  private var client: NetworkClient { NetworkClient(baseURL: mock.baseURL, transport: mock) }

  private var endpoint: TokenEndpoint {
    TokenEndpoint(
      OAuth2Server(
        authorize: URL(string: "https://id.example/authorize"), token: mock.baseURL.appending(path: "token")),
      clientID: "shop-ios")
  }

  @Test func `one client chooses the account for each request`() async throws {
    mock.on(.get, "orders").respond(200)
    let anna = TokenSession(
      name: "anna", source: .refreshToken(endpoint), store: annasStore)
    let ben = TokenSession(
      name: "ben", source: .refreshToken(endpoint), store: bensStore)
    let both = client.with {
      $0.behaviors += [.tokenAuth(anna), .tokenAuth(ben)]
    }
    try await both.send(
      .get("orders").with(\.authentication, .only("anna")))
    try await both.send(.get("orders").with(\.authentication, .only("ben")))
    #expect(mock.sent.map { $0.headers["Authorization"] } == ["Bearer A", "Bearer B"])
    // The text of the article about a request that names no account.
    #expect(try both.pipeline(for: Request<Void>.get("orders")).warnings.count == 1)
    try await both.send(.get("orders"))
    #expect(mock.sent.last?.headers["Authorization"] == "Bearer B")
    try await anna.signOut()
    await #expect(throws: NetworkError.self) { try await both.send(.get("orders")) }
  }

  @Test func `each account has a client, a session and a queue`() async throws {
    let home = TokenSession(
      name: "home", source: .refreshToken(endpoint), store: homeStore)
    let work = TokenSession(
      name: "work", source: .refreshToken(endpoint), store: workStore)
    let homeClient = client.with {
      $0.behaviors.append(.tokenAuth(home))
    }
    let workClient = client.with {
      $0.behaviors.append(.tokenAuth(work))
    }
    let database = try SQLiteStore(path: ":memory:")
    let configuration = OutboxConfiguration(trust: .anyone)
    let homeQueue = try await Outbox(
      database, client: homeClient, name: "home",
      operations: [], configuration: configuration)
    let workQueue = try await Outbox(
      database, client: workClient, name: "work",
      operations: [], configuration: configuration)
    mock.on(.post, "orders").respond(200)
    try await home.signIn(AccessToken("H"), as: "anna")
    try await work.signIn(AccessToken("W"), as: "anna@work")
    try await homeQueue.enqueue(.post("orders"))
    try await workQueue.enqueue(.post("orders"))
    try await work.signOut()
    #expect(try await homeQueue.drain().isEmpty)
    _ = try await workQueue.drain()
    #expect(mock.sent.map { $0.headers["Authorization"] } == ["Bearer H"])
    try await work.signIn(AccessToken("W2"), as: "anna@work")
    #expect(try await workQueue.drain().isEmpty)
    #expect(mock.sent.map { $0.headers["Authorization"] } == ["Bearer H", "Bearer W2"])
  }
}
