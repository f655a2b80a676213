import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import TestSupport
import Testing

/// Whatever adds credentials obeys the option, and is never kept from an origin in silence.
@Suite(.limited) struct CredentialBehaviorTests {
  /// A user's own behavior, which notes its hooks.
  private struct TicketBehavior: CredentialBehavior {
    let order = BehaviorOrder.authentication
    let credential = "ticket"
    let journal = Journal()

    func headers(for request: NetworkRequest) async throws -> HeaderFields {
      journal.note("headers")
      return ["X-Own": "own-secret"]
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      journal.note("intercept")
      return try await next(request)
    }

    func scope(for request: NetworkRequest) -> String? {
      journal.note("scope")
      return "ticket"
    }
  }

  private let transport = ClosureTransport()
  private let ticket = TicketBehavior()
  private let other = URL(string: "https://other.example/a")

  private func oauth(_ name: String = "partner", origins: OriginScope = .baseURL) -> OAuth1Behavior {
    let credentials = OAuth1Credentials(token: "tk", secret: "ts")
    return OAuth1Behavior(
      OAuth1Session(
        consumer: OAuth1Consumer(key: "ck", secret: "cs"), credentials: credentials, origins: origins, name: name))
  }

  private func token(_ name: String, field: String = "X-Token", origins: OriginScope = .baseURL) -> TokenAuthBehavior {
    TokenAuthBehavior(
      TokenSession(name: name, source: .closure { _ in AccessToken("t") }), header: .field(field), origins: origins)
  }

  private func warnings(_ behaviors: [any RequestBehavior], _ requirement: AuthenticationRequirement = .required)
    throws -> [String]
  {
    let request = Request<Void>.get("x").with(\.authentication, requirement)
    return try NetworkClient(transport, behaviors).pipeline(for: request).warnings
  }

  @Test func `a list warns of a credential that another one of the same field replaces`() throws {
    #expect(
      try warnings([token("anna"), token("ben")]) == [
        #"TokenAuthBehavior "anna" and TokenAuthBehavior "ben" both set X-Token, and the latter wins; choose with "#
          + #".with(\.authentication, .only("anna"))"#
      ])
  }

  @Test func `a list does not warn of credentials of one field if the request chooses one`() throws {
    #expect(try warnings([token("anna"), token("ben")], .only("anna")).isEmpty)
  }

  @Test func `a list does not warn of credentials of one field for different origins`() throws {
    let origin = try #require(other.flatMap { Origin($0) })
    #expect(try warnings([token("anna"), token("ben", origins: .only([origin]))]).isEmpty)
  }

  @Test func `a list warns of a password and a signature in the same field`() throws {
    #expect(try warnings([.basicAuth(user: "u", password: "p"), oauth()]).count == 1)
  }

  /// All kinds of credentials, each in a field of its own; OAuth replaces the password, so there is one or the other.
  private var everything: [any RequestBehavior] {
    [token("app", field: "X-App-Token"), token("user", field: "X-User-Token"), .apiKey("X-API-Key", "k"), ticket]
  }

  private let fields = ["X-App-Token", "X-User-Token", "X-API-Key", "X-Own", "Authorization"]

  private func sent(
    _ requirement: AuthenticationRequirement?, _ behaviors: [any RequestBehavior]
  ) async throws -> [String] {
    let request = Request<Void>.get("a")
    try await NetworkClient(transport, behaviors).send(
      requirement.map { request.with(\.authentication, $0) } ?? request)
    return fields.filter { transport.sent.last?.headers.contains($0) == true }
  }

  // MARK: The option

  @Test func `a request without authentication gets no credentials of any behavior`() async throws {
    let oauth: any RequestBehavior = oauth()
    for last in [oauth, .basicAuth(user: "u", password: "p")] {
      #expect(try await sent(nil, everything + [last]) == fields)
      #expect(try await sent(AuthenticationRequirement.none, everything + [last]).isEmpty)
    }
  }

  @Test(arguments: [
    ("app", "X-App-Token"), ("user", "X-User-Token"), ("X-API-Key", "X-API-Key"), ("ticket", "X-Own"),
    ("partner", "Authorization"),
  ])
  func `a request that names its credentials gets only those`(
    name: String, field: String
  ) async throws {
    #expect(try await sent(.only(name), everything + [oauth()]) == [field])
  }

  @Test func `a request can ask for a password as basic, and for a key by its name`() async throws {
    let behaviors: [any RequestBehavior] = [
      .basicAuth(user: "u", password: "p"), .apiKey("X-API-Key", "k", credential: "app"), token("app"),
    ]
    #expect(try await sent(.only("basic"), behaviors) == ["Authorization"])
    #expect(try await sent(.only("app"), behaviors) == ["X-API-Key"])
    #expect(transport.sent.last?.headers.contains("X-Token") == true)
  }

  @Test func `an unknown name of credentials is an error that lists the known names`() async throws {
    let error = await #expect(throws: NetworkError.self) { _ = try await sent(.only("nobody"), everything + [oauth()]) }
    #expect(error?.code == .invalidBehavior)
    for name in ["nobody", "app", "user", "X-API-Key", "ticket", "partner"] {
      #expect(error?.message.contains("\"\(name)\"") == true, "\(name)")
    }
    #expect(transport.sent.isEmpty)
  }

  @Test func `a behavior whose credentials are not wanted runs none of its hooks`() async throws {
    try await NetworkClient(transport, [ticket]).send(.get("a").with(\.authentication, .none))
    #expect(ticket.journal.entries.isEmpty)
    let response: NetworkResponse = try await NetworkClient(transport, [ticket]).send(.get("a"))
    #expect(ticket.journal.entries == ["scope", "intercept", "headers"])
    #expect(response.request.call.scopes == ["ticket"])
  }

  @Test func `a request that is optionally authenticated is sent unsigned while no user is signed in`() async throws {
    let session = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs"))
    let client = NetworkClient(transport, [.oauth1(session)])
    try await client.send(.get("a").with(\.authentication, .optional))
    #expect(transport.sent.map { $0.headers.contains("Authorization") } == [false])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error?.code == .oauth1MissingCredentials)
  }

  @Test func `a requirement includes the names that it allows`() {
    #expect(AuthenticationRequirement.required.includes("a"))
    #expect(AuthenticationRequirement.optional.includes(nil))
    #expect(!AuthenticationRequirement.none.includes("a"))
    #expect(!AuthenticationRequirement.none.includes(nil))
    #expect(AuthenticationRequirement.only("a").includes("a"))
    #expect(!AuthenticationRequirement.only("a").includes("b"))
    #expect(!AuthenticationRequirement.only("a").includes(nil))
    #expect(AuthenticationRequirement.optional.isOptional)
    #expect(!AuthenticationRequirement.required.isOptional)
  }

  @Test func `descriptions do not show a key`() {
    let behavior = APIKeyBehavior("X-API-Key", "canary-7731")
    var dumped = ""
    dump(behavior, to: &dumped)
    #expect(!dumped.contains("canary"))
    #expect(!"\(behavior)".contains("canary"))
    #expect("\(behavior)".contains("X-API-Key"))
  }

  // MARK: Origins

  /// Every kind of credentials, and the name by which a request selects it.
  private var kinds: [(name: String, behavior: any RequestBehavior)] {
    [
      ("app", token("app")), ("partner", oauth()), ("basic", .basicAuth(user: "u", password: "p")),
      ("X-API-Key", .apiKey("X-API-Key", "k")), ("ticket", ticket),
    ]
  }

  @Test
  func `a required credential that no behavior has for an origin is an error that names the origin and the remedy`()
    async throws
  {
    let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.example.com")))
    for (name, behavior) in kinds {
      for requirement in [AuthenticationRequirement.required, .only(name)] {
        for request in [Request<Void>.get("a").with(\.environment, staging), .get(url: try #require(other))] {
          let error = await #expect(throws: NetworkError.self) {
            try await NetworkClient(transport, [behavior]).send(request.with(\.authentication, requirement))
          }
          #expect(error?.code == .credentialsWithheld)
          let origin = try #require(error?.request?.origin)
          for part in ["\(origin)", "is for https://api.example.com", "list", "origins", ".optional"] {
            #expect(error?.message.contains(part) == true, "\(part) of \(error as Any)")
          }
        }
      }
    }
    #expect(transport.sent.isEmpty)
  }

  @Test func `a requirement of the configuration is explicit too, and a client without credentials has none`()
    async throws
  {
    let request = Request<Void>.get(url: try #require(other))
    let client = NetworkClient(transport, [token("app")]).with { $0.options.authentication = .required }
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.code == .credentialsWithheld)
    try await client.send(request.with(\.authentication, .none))
    try await NetworkClient(transport).send(request.with(\.authentication, .required))
    #expect(transport.sent.count == 2)
  }

  @Test func `a list warns of a requirement that no behavior can meet`() throws {
    let request = Request<Void>.get("a").with(\.authentication, .required)
    #expect(try NetworkClient(transport).pipeline(for: request).warnings.count == 1)
    #expect(try NetworkClient(transport, [token("app")]).pipeline(for: request).warnings == [])
  }

  @Test func `one of several credentials meets a requirement, unless the request names another one`() async throws {
    let url = try #require(other)
    let there = OriginScope.only([try #require(Origin(url))])
    let client = NetworkClient(transport, [token("app"), token("partner", field: "X-Partner-Token", origins: there)])
    try await client.send(.get(url: url).with(\.authentication, .required))
    try await client.send(.get(url: url).with(\.authentication, .only("partner")))
    #expect(transport.sent.map { $0.headers.contains("X-Partner-Token") } == [true, true])
    #expect(transport.sent.map { $0.headers.contains("X-Token") } == [false, false])
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.get(url: url).with(\.authentication, .only("app")))
    }
    #expect(error?.code == .credentialsWithheld)
  }

  @Test func `a request's own credentials meet its requirement, unless it names others`() async throws {
    let own = Request<Void>.get(url: try #require(other)).with(header: "Authorization", "Bearer own")
    let client = NetworkClient(transport, [token("app")])
    try await client.send(own.with(\.authentication, .required))
    #expect(transport.sent.first?.headers["Authorization"] == "Bearer own")
    await #expect(throws: NetworkError.self) { try await client.send(own.with(\.authentication, .only("app"))) }
  }

  @Test func `without an explicit requirement the call records withheld credentials, and a 401 names them`()
    async throws
  {
    for (_, behavior) in kinds {
      let name = String(describing: type(of: behavior))
      let request = Request<Void>.get(url: try #require(other))
      let client = NetworkClient(ClosureTransport(401), [behavior])
      let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
      #expect(error?.code == .unacceptableStatus)
      #expect(error?.message.contains("credentials are bound to other origins: \(name)") == true, "\(error as Any)")
      #expect(error?.message.contains("kept from https://other.example") == true)
      let events = error?.request?.call.events.map(\.message) ?? []
      try #require(events.count == 1, "\(events)")
      #expect(events[0].hasPrefix(name), "\(events)")
    }
  }

  @Test func `credentials that a request does not want are not called withheld`() async throws {
    let request = Request<Void>.get(url: try #require(other)).with(\.authentication, .none)
    let client = NetworkClient(ClosureTransport(401), everything)
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.message == "the server answered 401")
    #expect(error?.request?.call.events.isEmpty == true)
  }

  @Test func `an unmarked field of a behavior that adds credentials does not follow a redirect to another origin`()
    async throws
  {
    struct Unmarked: CredentialBehavior {
      var credential: String { "unmarked" }
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Ticket": "canary"] }
    }
    let transport = ClosureTransport { request in
      guard request.url.host() == baseURL.host() else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://other.example/x"])
    }
    try await NetworkClient(transport, [Unmarked()]).send(.get("x"))
    #expect(transport.sent.map { $0.headers["X-Ticket"] } == ["canary", nil])
  }

  @Test func `a redirect to another origin goes there without credentials even where they are required`() async throws {
    let transport = ClosureTransport { request in
      guard request.url.host() == "api.example.com" else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://files.example/signed"])
    }
    let client = NetworkClient(transport, [ticket])
    let response: NetworkResponse = try await client.send(.get("a").with(\.authentication, .required))
    #expect(transport.sent.map { $0.headers["X-Own"] } == ["own-secret", nil])
    #expect(response.request.call.events.map(\.message).last == "TicketBehavior kept from https://files.example")
  }

  // MARK: Prerequisites

  @Test func `the configuration's requirement does not apply to prerequisites`() async throws {
    for requirement in [AuthenticationRequirement.required, .only("app")] {
      let transport = ClosureTransport()
      let session = TokenSession(
        name: "app",
        source: .closure { client in
          try await client.send(.post("token"))
          return AccessToken("t")
        })
      let client = NetworkClient(transport, [.tokenAuth(session), .apiKey("X-API-Key", "k", origins: .only([]))])
        .with { $0.options.authentication = requirement }
      try await client.send(.get("a"))
      #expect(transport.sent.map(\.url.lastPathComponent) == ["token", "a"])
    }
  }

  @Test(arguments: [BehaviorOrder.inside(.authentication), .outside(.authentication), .outside(.signing)])
  func `a password beside its standard place still replaces the request's own field`(
    order: BehaviorOrder
  ) async throws {
    let basic = BasicAuthBehavior(user: "u", password: "p").ordered(order)
    try await NetworkClient(transport, [basic]).send(.get("a", headers: ["Authorization": "user"]))
    #expect(transport.sent.first?.headers["Authorization"]?.hasPrefix("Basic ") == true)
  }
}
