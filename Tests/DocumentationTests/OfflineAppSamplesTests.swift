import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

struct Errand: Codable, Equatable, Sendable, Identifiable {
  var id: UUID
  var text: String
  var isDone = false
}

struct AddErrand: OutboxOperation {
  static let name = "errand.add"
  var errand: Errand

  var delivery: OutboxDelivery {
    OutboxDelivery(lane: "errand-\(errand.id)")
  }

  func request(in db: Database) -> Request<Void> {
    .put("errands/\(errand.id)", body: .json(errand))
  }

  func delivered(_ value: Void, in db: Database) throws {
    try db.save([errand], into: "errand")
  }
}

struct FinishErrand: OutboxOperation {
  static let name = "errand.finish"
  var id: UUID

  var delivery: OutboxDelivery {
    OutboxDelivery(lane: "errand-\(id)", identity: "finish-\(id)")
  }

  func request(in db: Database) -> Request<Void> {
    .put("errands/\(id)/done")
  }

  func delivered(_ value: Void, in db: Database) throws {
    try db.execute("UPDATE errand SET isDone = 1 WHERE id = \(id)")
  }
}

final class ErrandList: Sendable {
  struct Shown: Equatable, Sendable {
    var errands: [Errand]
    var waiting: Int
  }

  let store: SQLiteStore
  let session: TokenSession
  let client: NetworkClient
  let outbox: Outbox

  init(
    folder: URL, baseURL: URL,
    connectivity: Connectivity = .system(),
    transport: (any Transport)? = nil
  ) async throws {
    let table = SQLiteMigration("errand") { db in
      try db.execute(
        """
        CREATE TABLE errand (
          id BLOB PRIMARY KEY, text TEXT NOT NULL,
          isDone INTEGER NOT NULL)
        """)
    }
    store = try await SQLiteStore.open(
      path: folder.appending(path: "errands.sqlite").path,
      migrations: [table])
    let cache = try SQLiteCacheStore(
      path: folder.appending(path: "cache.sqlite").path)
    let endpoint = TokenEndpoint("oauth/token", clientID: "errands")
    session = TokenSession(
      source: .refreshToken(endpoint), store: SQLiteTokenStore(store))
    client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .nonceVerification(), .tokenAuth(session), .caching(cache),
        .retry(), .offline(connectivity),
      ],
      transport: transport)
    outbox = try await Outbox(
      store, client: client,
      operations: [AddErrand.self, FinishErrand.self])
    outbox.start()
  }

  // MARK: Who the user is

  func signIn(_ token: AccessToken, as userID: String) async throws {
    try await session.signIn(token, as: userID)
  }

  /// Returns whether the user is signed out; `false` if changes still
  /// wait, and the user wants to keep them.
  func signOut(leavingChanges: Bool) async throws -> Bool {
    let left = try await outbox.drain(for: .seconds(10))
    guard left.isEmpty || leavingChanges else { return false }
    try await session.signOut()
    try await store.write { db in
      try db.execute("DELETE FROM errand")
    }
    return true
  }

  // MARK: What the user sees

  func shown() -> SQLiteValues<Shown> {
    let outbox = outbox
    return store.values { db in
      var errands: [Errand] = try db.query(
        "SELECT * FROM errand ORDER BY text")
      let saved = Set(errands.map(\.id))
      errands += try outbox.waiting(AddErrand.self, in: db)
        .map(\.operation.errand)
        .filter { !saved.contains($0.id) }
      let done = try outbox.waiting(FinishErrand.self, in: db)
        .map(\.operation.id)
      for index in errands.indices
      where done.contains(errands[index].id) {
        errands[index].isDone = true
      }
      return Shown(
        errands: errands,
        waiting: try outbox.summary(in: db).waiting)
    }
  }

  // MARK: What the user does

  func add(_ text: String) async throws -> UUID {
    let errand = Errand(id: UUID(), text: text)
    try await outbox.enqueue(AddErrand(errand: errand))
    return errand.id
  }

  func finish(_ id: UUID) async throws {
    try await outbox.enqueue(FinishErrand(id: id))
  }

  // MARK: What the server says

  func refresh() async throws {
    let request = Request<Void>.get("errands")
      .with(\.caching, .reload)
      .with(
        .saveRecords(
          [Errand].self, into: "errand", in: store,
          deletingOthers: .all))
    try await client.send(request)
  }

  func help() async throws -> String {
    try await client.send(
      Request<String>.get("help")
        .with(\.staleIfError, .seconds(30 * 86_400)))
  }
}

/// The program of the article "An app that works offline", and the samples of "Sign-out with work waiting".
@Suite(.limited) struct OfflineAppSamplesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "OfflineApp-\(UUID().uuidString)")

  /// A server that keeps what it is sent, on a network that can be away.
  private final class Server: Sendable {
    private let state = Locked<(isAway: Bool, paths: [String])>((false, []))
    private let errands = Locked<[Errand]>([])

    func setErrands(_ list: [Errand]) { errands.withLock { $0 = list } }

    var paths: [String] { state.withLock { $0.paths } }

    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    var transport: MockTransport {
      MockTransport(baseURL: baseURL) { [state, errands] request in
        let isAway = state.withLock { state in
          if !state.isAway { state.paths.append("\(request.method) \(request.url.lastPathComponent)") }
          return state.isAway
        }
        if isAway { throw NetworkError(.cannotConnect, "the network is away", request: request) }
        let isList = request.url.lastPathComponent == "errands"
        let text = Data("Write down what you have to do.".utf8)
        let body = try isList ? JSONEncoder().encode(errands.withLock { $0 }) : text
        var response = NetworkResponse(
          request: request, statusCode: 200,
          headers: ["Content-Type": isList ? "application/json" : "text/plain", "Cache-Control": "max-age=60"],
          body: .data(body))
        response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
        return response
      }
    }
  }

  @Test func `an offline change is visible at once and is delivered when the network is back`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, (updates, reports)) = (Server(), AsyncStream.makeStream(of: Bool.self))
    let list = try await ErrandList(
      folder: folder, baseURL: baseURL, connectivity: Connectivity(updates), transport: server.transport)
    try await list.signIn(AccessToken("token", refreshToken: "more"), as: "ada")
    #expect(try await list.help() == "Write down what you have to do.")
    server.setAway(true)
    let id = try await list.add("milk")
    try await list.finish(id)
    var shown = list.shown().makeAsyncIterator()
    let errand = Errand(id: id, text: "milk", isDone: true)
    #expect(try await shown.next() == ErrandList.Shown(errands: [errand], waiting: 2))
    #expect(try await list.help() == "Write down what you have to do.")
    server.setAway(false)
    reports.yield(true)
    // An attempt may still be under way that began without a network.
    #expect(try await list.outbox.drain(for: .seconds(30)).isEmpty)
    #expect(server.paths.suffix(2) == ["PUT \(id)", "PUT done"])
    var last = try await shown.next()
    while let value = last, value.waiting > 0 {
      #expect(value.errands == [errand])
      last = try await shown.next()
    }
    #expect(last == ErrandList.Shown(errands: [errand], waiting: 0))
    await list.outbox.stop()
  }

  @Test func `a refresh after a delivery keeps the change, although an older list is in the cache`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = Server()
    let list = try await ErrandList(
      folder: folder, baseURL: baseURL, connectivity: Connectivity(AsyncStream { _ in }), transport: server.transport)
    try await list.signIn(AccessToken("token", refreshToken: "more"), as: "ada")
    try await list.refresh()
    let errand = Errand(id: try await list.add("milk"), text: "milk")
    #expect(try await list.outbox.drain(for: .seconds(30)).isEmpty)
    server.setErrands([errand])
    try await list.refresh()
    #expect(try await list.store.read { db in try db.query("SELECT * FROM errand", as: Errand.self) } == [errand])
    await list.outbox.stop()
  }

  @Test func `a change waits for its user, through a restart and a sign-out`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, (updates, reports)) = (Server(), AsyncStream.makeStream(of: Bool.self))
    server.setAway(true)
    func open(_ connectivity: Connectivity = Connectivity(AsyncStream { _ in })) async throws -> ErrandList {
      try await ErrandList(
        folder: folder, baseURL: baseURL, connectivity: connectivity, transport: server.transport)
    }
    let first = try await open()
    await #expect(throws: NetworkError.self) { _ = try await first.add("tea") }
    try await first.signIn(AccessToken("token", refreshToken: "more"), as: "ada")
    let id = try await first.add("milk")
    await first.outbox.stop()

    let list = try await open(Connectivity(updates))
    #expect(try await list.session.isSignedIn())
    var shown = list.shown().makeAsyncIterator()
    #expect(try await shown.next() == ErrandList.Shown(errands: [Errand(id: id, text: "milk")], waiting: 1))
    // Without the wait for the network that is away.
    try await list.session.signOut()
    try await list.signIn(AccessToken("other", refreshToken: "more"), as: "ben")
    server.setAway(false)
    #expect(try await list.signOut(leavingChanges: false))
    #expect(server.paths.isEmpty)
    try await list.signIn(AccessToken("token", refreshToken: "more"), as: "ada")
    reports.yield(true)
    #expect(try await list.outbox.drain(for: .seconds(30)).isEmpty)
    #expect(server.paths == ["PUT \(id)"])
    let saved: [Errand] = try await list.store.read { db in try db.query("SELECT * FROM errand") }
    #expect(saved.map(\.id) == [id])
    #expect(try await list.signOut(leavingChanges: true))
    #expect(try await list.store.read { db in try db.query("SELECT * FROM errand", as: Errand.self) } == [])
    await list.outbox.stop()
  }

  @Test func `the entries of a user wait for the user`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let server = Server()
    let store = try SQLiteStore(path: folder.appending(path: "work.sqlite").path)
    let workClient = NetworkClient(
      baseURL: baseURL, behaviors: [.nonceVerification(), .tokenAuth(session)], transport: server.transport)
    let outbox = try await Outbox(
      store, client: workClient, name: "work",
      operations: [FinishErrand.self])
    try await session.signIn(AccessToken("token"), as: "ada")
    try await outbox.enqueue(FinishErrand(id: UUID()))
    try await session.signOut()
    let others = try await store.read { db in
      try outbox.summary(in: db).others
    }
    #expect(others == 1)
    #expect(server.paths.isEmpty)
  }

  @Test func `the entries of a user are removed at the sign-out`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let store = try SQLiteStore(path: folder.appending(path: "work.sqlite").path)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.nonceVerification(), .tokenAuth(session)], transport: Server().transport)
    let outbox = try await Outbox(
      store, client: client, operations: [FinishErrand.self],
      configuration: OutboxConfiguration(atSignOut: .discard))
    try await session.signIn(AccessToken("token"), as: "ada")
    try await outbox.enqueue(FinishErrand(id: UUID()))
    try await session.signOut()
    #expect(try await store.read { try outbox.summary(in: $0).others } == 0)
  }
}
