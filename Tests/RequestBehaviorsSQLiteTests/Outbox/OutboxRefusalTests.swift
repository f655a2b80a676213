import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private enum Weight: RequestOption { static let defaultValue = 0 }

private enum Timeout: RequestOption { static let defaultValue = 0 }

extension RequestOptions {
  fileprivate var weight: Int {
    get { self[Weight.self] }
    set { self[Weight.self] = newValue }
  }

  fileprivate var ownTimeout: Int {
    get { self[Timeout.self] }
    set { self[Timeout.self] = newValue }
  }
}

/// Requests that cannot be enqueued, and secrets that must not be in the file.
@Suite(.limited) struct OutboxRefusalTests {
  private static let stream = RequestContent.stream { ByteStream(chunks: [Data("a".utf8)]) }

  private static let staging = ServerEnvironment(
    baseURL: URL(string: "https://staging.example.com") ?? URL(filePath: "/"))

  static let refused: [(part: String, request: Request<Void>)] = [
    ("the behavior MapErrorBehavior", .post("a").with(.mapError { $0 })),
    ("removed behaviors", .post("a").without(LoggingBehavior.self)),
    ("the option RequestBehaviorsSQLiteTests.Weight", .post("a").with(\.weight, 1)),
    // A user's option that has the name of one of the library's.
    ("the option RequestBehaviorsSQLiteTests.Timeout", .post("a").with(\.ownTimeout, 1)),
    ("the option RequestBehaviors.RetryPolicyOption", .post("a").with(\.retryPolicy, RetryPolicy.none)),
    ("the option RequestBehaviors.Environment", .post("a").with(\.environment, staging)),
    ("a body that is a file, a stream or multipart", .post("a", body: stream)),
    ("a body that is a file, a stream or multipart", .post("a", body: .oneShot(ByteStream(chunks: [Data("a".utf8)])))),
    ("a body that is a file, a stream or multipart", .post("a", body: .file(URL(filePath: "/etc/hostname")))),
    ("a body that is a file, a stream or multipart", .post("a", body: .multipart([.field("a", "b")]))),
    ("a full URL", .post(url: URL(string: "https://other.example/a") ?? URL(filePath: "/"))),
    ("a full URL", .post("https://other.example/a")),
    ("the field Authorization, a credential", .post("a", headers: ["Authorization": "Bearer canary"])),
    ("the field X-API-Key, a credential", .post("a", headers: ["X-API-Key": "canary"])),
    ("the field Cookie, a credential", .post("a", headers: ["Cookie": "session=canary"])),
    ("the field Proxy-Authorization, a credential", .post("a", headers: ["Proxy-Authorization": "Basic canary"])),
    ("the query item api_key, a credential", .post("a", query: ["api_key": "canary"])),
    ("a query with a credential in its path", .post("a?access_token=canary")),
  ]

  @Test(arguments: refused) func `a request is refused with the name of the part that cannot be kept`(
    _ refused: (part: String, request: Request<Void>)
  ) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(refused.request) }
    #expect(error?.code == .cannotBeKept)
    #expect(error?.message.contains("must not have \(refused.part), which") == true)
    #expect(error?.message.contains("canary") == false)
    #expect(try await world.states.isEmpty)
  }

  @Test func `a field that was marked as a secret is refused`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    var request = Request<Void>.post("a")
    request.headers.set("X-Mine", "canary", sensitive: .baseURL)
    let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
    #expect(error?.message.contains("the field X-Mine, a credential") == true)
  }

  @Test(arguments: [RequestMethod.get, .head, .query, .options])
  func `a request with a safe method is refused`(_ method: RequestMethod) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(Request<Void>(method, "a")) }
    #expect(error?.code == .invalidRequest)
  }

  @Test func `the parts that are kept are sent as they were`() async throws {
    let seen = Shared<NetworkRequest?>(nil)
    let world = try OutboxWorld { request in
      seen.value = request
      return (409, "")
    }
    let outbox = try await world.outbox()
    let id = try await outbox.enqueue(
      Request<Void>.put("notes/\("a b")/x", body: .json(["n": 1]), query: ["q": "1 2"], headers: ["If-Match": "\"7\""])
        .with(\.timeout, .seconds(7)).with(\.idleTimeout, .seconds(5)).with(\.acceptableStatuses, [200, 409])
        .with(\.authentication, .none)
        .with(\.idempotencyKey, IdempotencyKey.value("mine").inField("X-Key", isQuoted: true)))
    try await outbox.drain()
    let request = try #require(seen.value)
    #expect(request.url.absoluteString == "https://api.example.com/notes/a%20b/x?q=1%202")
    #expect(request.endpoint == "notes/{}/x")
    #expect(request.headers["If-Match"] == "\"7\"")
    #expect(request.headers["Content-Type"] == "application/json")
    #expect(request.timeout == .seconds(7))
    #expect(request.idleTimeout == .seconds(5))
    #expect(request.headers["X-Key"] == "\"mine\"")
    #expect(request.options.authentication == .none)
    #expect(try await outbox.state(of: id) == .delivered)
  }

  @Test func `an outbox without verification is refused, and the error names the remedy`() async throws {
    let world = try OutboxWorld()
    let plain = NetworkClient(baseURL: try #require(URL(string: "https://a.example")), transport: world.mock)
    let error = await #expect(throws: NetworkError.self) { try await world.outbox(plain) }
    #expect(error?.code == .invalidBehavior)
    #expect(error?.message.contains(".nonceVerification()") == true)
    _ = try await world.outbox(plain, OutboxConfiguration(trust: .anyone))
  }

  @Test func `a client without a base URL is refused`() async throws {
    let world = try OutboxWorld()
    let client = NetworkClient(configuration: RequestConfiguration(), transport: world.mock)
    let error = await #expect(throws: NetworkError.self) { try await world.outbox(client) }
    #expect(error?.code == .invalidURL)
  }

  private struct SameName: OutboxOperation {
    static let name = "ping"
    func request(in db: Database) -> Request<Void> { .post("a") }
  }

  @Test func `two types of one name are refused`() async throws {
    let world = try OutboxWorld()
    let error = await #expect(throws: OutboxError.self) {
      try await world.outbox(operations: [Ping.self, SameName.self])
    }
    #expect(error?.code == .invalidOperations)
  }

  @Test func `a type that is not listed cannot be enqueued`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Ping.self])
    let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(SameName()) }
    #expect(error?.code == .invalidOperations)
  }

  @Test func `a write without full durability cannot enqueue`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let writer = try await outbox.writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await world.store.write { try writer.enqueue(Ping(number: 1), in: $0) }
    }
    #expect(error?.code == .misuse)
    try await world.store.write(durability: .full) { try writer.enqueue(Ping(number: 1), in: $0) }
    #expect(try await world.states == [0])
  }

  @Test func `a write of another store cannot enqueue`() async throws {
    let (world, other) = (try OutboxWorld(), try OutboxWorld())
    let writer = try await world.outbox().writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await other.store.write(durability: .full) { try writer.enqueue(Ping(number: 1), in: $0) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `a request that writes in its read is refused`() async throws {
    struct Writes: OutboxOperation {
      static let name = "writes"
      func request(in db: Database) throws -> Request<Void> {
        try db.execute("DELETE FROM note")
        return .post("a")
      }
    }
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Writes.self])
    let error = await #expect(throws: SQLiteError.self) { try await outbox.enqueue(Writes()) }
    #expect(error?.code == .readOnly)
  }

  @Test func `tables of a newer version are refused`() async throws {
    let world = try OutboxWorld()
    _ = try await world.outbox()
    try await world.store.write { try $0.execute("UPDATE outbox_meta SET version = 99") }
    let error = await #expect(throws: OutboxError.self) { try await world.outbox() }
    #expect(error?.code == .newerFile)
  }

  @Test func `no token of the client is in the file or beside it`() async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let world = try OutboxWorld { _ in (503, "canary-in-the-body") }
    let outbox = try await world.outbox(world.client([.tokenAuth(session), .apiKey("X-API-Key", "canary-key")]))
    try await session.signIn(AccessToken("canary-token"), as: "canary-user")
    try await outbox.enqueue(.post("a"))
    try await outbox.drain()
    #expect(world.mock.sent.first?.headers["Authorization"] == "Bearer canary-token")
    let files = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
    #expect(files.contains("store.sqlite-wal"))
    for file in files {
      let data = try Data(contentsOf: URL(filePath: world.folder.file(file)))
      #expect(data.range(of: Data("canary".utf8)) == nil, "in \(file)")
    }
  }

  /// An error that repeats what its behavior or operation was given.
  private struct Talkative: Error, CustomStringConvertible { let description: String }

  /// An operation that cannot save its response, and says what it was.
  private struct Unsaved: OutboxOperation {
    static let name = "unsaved"

    func request(in db: Database) -> Request<Receipt> { .post("a") }

    func delivered(_ receipt: Receipt, in db: Database) throws {
      throw Talkative(description: "receipt \(receipt.token), beside canary-token")
    }

    struct Receipt: Decodable, Sendable {
      var token: String
    }
  }

  @Test(arguments: [false, true])
  func `no secret is in the file that the error of a behavior repeats`(isNetworkError: Bool) async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let world = try OutboxWorld()
    let quoting = ClosureBehavior(
      "quoting", order: .last,
      intercept: { request, next in
        let response = try await next(request)
        let token = response.request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
        let text = "no room for \(token) of \(response.request.headers["X-API-Key"] ?? "")"
        throw isNetworkError ? NetworkError(.cannotConnect, text) : Talkative(description: text)
      })
    let client = world.client([.tokenAuth(session), .apiKey("X-API-Key", "canary-key"), quoting])
    let outbox = try await world.outbox(client)
    try await session.signIn(AccessToken("canary-token"), as: "anna")
    try await outbox.enqueue(.post("a"))
    try await outbox.drain()
    let failure = try await world.store.read { try $0.first("SELECT failure FROM outbox_entry", as: String.self) }
    #expect(failure?.contains("no room for REDACTED of REDACTED") == true)
  }

  @Test func `no secret is in the file that the error of a delivery repeats`() async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let world = try OutboxWorld { _ in (200, #"{"token": "canary-of-the-response"}"#) }
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]), operations: [Unsaved.self])
    try await session.signIn(AccessToken("canary-token"), as: "anna")
    try await outbox.enqueue(Unsaved())
    try await outbox.drain()
    let failure = try await world.store.read { try $0.first("SELECT failure FROM outbox_entry", as: String.self) }
    #expect(failure?.contains("receipt REDACTED, beside REDACTED") == true)
  }
}
