import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct SQLiteTokenStoreTests {
  @Test func `a token is stored for the next process, replaced as a whole, and removed`() async throws {
    let folder = try TemporaryFolder()
    let tokens = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
    #expect(try await tokens.load() == nil)
    for value in ["one", "two"] {
      try await tokens.save(AccessToken(value))
      let next = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
      #expect(try await next.load()?.value == value)
      #expect(next.location == tokens.location)
    }
    try await tokens.save(nil)
    #expect(try await tokens.load() == nil)
  }

  @Test(arguments: ["", "canary\nb", "canary\u{0}"])
  func `a token that could not be read again is not saved`(value: String) async throws {
    let tokens = SQLiteTokenStore(try SQLiteStore(path: ":memory:"))
    try await tokens.save(AccessToken("one"))
    for token in [AccessToken(value), AccessToken("canary", type: "MAC" + value + "\n")] {
      let error = try await #require(throws: NetworkError.self) { try await tokens.save(token) }
      #expect(error.code == .tokenStoreFailed)
      #expect(!error.message.contains("canary"))
      await #expect(throws: NetworkError.self) { _ = try await tokens.replace(AccessToken("one"), with: token) }
    }
    #expect(try await tokens.load()?.value == "one")
  }

  @Test func `tokens of different names are separate`() async throws {
    let store = try SQLiteStore(path: ":memory:")
    let (user, app) = (SQLiteTokenStore(store, name: "user"), SQLiteTokenStore(store, name: "app"))
    try await user.save(AccessToken("u"))
    try await app.save(AccessToken("a"))
    try await app.save(nil)
    #expect(try await user.load()?.value == "u")
  }

  @Test func `two names of one file are two places, and two sessions keep two tokens`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    let (user, app) = (SQLiteTokenStore(store, name: "user"), SQLiteTokenStore(store, name: "app"))
    #expect(user.location != app.location)
    #expect(user.location == SQLiteTokenStore(store, name: "user").location)
    let source = ClosureTokenSource { _ in throw NetworkError.notSignedIn() }
    let sessions = (
      user: TokenSession(source: source, store: user), app: TokenSession(source: source, store: app)
    )
    try await sessions.user.signIn(AccessToken("u"))
    try await sessions.app.signIn(AccessToken("a"))
    for (session, token) in [(sessions.user, "u"), (sessions.app, "a")] {
      let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
      mock.on(.get, "*").respond(204)
      try await NetworkClient(baseURL: mock.baseURL, behaviors: [.tokenAuth(session)], transport: mock).send(.get("x"))
      #expect(mock.sent.map { $0.headers["Authorization"] } == ["Bearer \(token)"])
    }
    #expect(try await user.load()?.value == "u")
    #expect(try await app.load()?.value == "a")
  }

  @Test func `the files of a database are its owner's alone`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    try await SQLiteTokenStore(store).save(AccessToken("secret"))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(files == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
    for file in files { #expect(try mode(of: folder.file(file)) == 0o600, "\(file)") }
  }

  @Test func `saving a token removes the permissions of others from its file`() async throws {
    let test = try TestStore()
    let files = ["", "-wal", "-shm"].map { test.store.path + $0 }
    for file in files { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file) }
    let tokens = SQLiteTokenStore(test.store)
    try await tokens.save(nil)
    for file in files { #expect(try mode(of: file) == 0o644) }
    try await tokens.save(AccessToken("secret"))
    for file in files { #expect(try mode(of: file) == 0o600) }
  }

  @Test func `a file that is made through a link is its owner's alone`() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "store.sqlite")
    let store = try SQLiteStore(path: folder.file("link"))
    #expect(store.path == folder.file("link"))
    try await SQLiteTokenStore(store).save(AccessToken("secret"))
    let files = ["", "-wal", "-shm"].map { folder.file("store.sqlite" + $0) }
    for file in files { #expect(try mode(of: file) == 0o600, "\(file)") }
    for file in files { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file) }
    try await SQLiteTokenStore(store).save(AccessToken("another"))
    for file in files { #expect(try mode(of: file) == 0o600, "\(file)") }
  }

  @Test func `a file and a link to it are one place`() async throws {
    let test = try TestStore()
    let (folders, link) = (test.folder.file("linked"), test.folder.file("linked/link"))
    try FileManager.default.createSymbolicLink(atPath: folders, withDestinationPath: test.folder.path)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store.sqlite")
    let locations = [test.store.path, link].map { path in
      Result { SQLiteTokenStore(try SQLiteStore(path: path)).location }
    }
    #expect(try locations[0].get() == locations[1].get())
  }

  private func mode(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
  }

  @Test(arguments: ["garbage", "{}", "", #"{"value":7}"#])
  func `an invalid token is an error that does not show it`(text: String) async throws {
    let store = try SQLiteStore(path: ":memory:")
    let tokens = SQLiteTokenStore(store)
    try await tokens.save(AccessToken("old"))
    try await store.write { try $0.execute("UPDATE access_token SET token = \(text)") }
    let error = await #expect(throws: NetworkError.self) { try await tokens.load() }
    #expect(error?.code == .tokenStoreFailed)
    #expect(error?.message.contains("is not a token") == true)
    #expect(error.map { "\($0)" }?.contains("garbage") == false)
  }
}
