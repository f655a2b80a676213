import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import TestSupport
import Testing

/// The stored responses of a user who signs out after their store was released.
@Suite(.limited) struct SQLiteCacheSignOutTests {
  private let folder: TemporaryFolder
  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
  private let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])

  init() throws { folder = try TemporaryFolder() }

  private struct Released {
    weak var store: SQLiteCacheStore?
  }

  /// Stores a response of the user in a file, with a client and a store of its own.
  private func fill(_ path: String) async throws -> Released {
    let store = try SQLiteCacheStore(path: path)
    try await NetworkClient(transport, [.tokenAuth(session), .caching(store)]).send(.get("a"))
    #expect(try await store.entries(limit: 9).count == 1)
    return Released(store: store)
  }

  @Test func `a sign-out empties the file although its store was released with the client`()
    async throws
  {
    try await session.signIn(AccessToken("t1"))
    let paths = (0..<20).map { folder.file("\($0).sqlite") }
    var released: [Released] = []
    for path in paths { released.append(try await fill(path)) }
    #expect(try await eventually { released.allSatisfy { $0.store == nil } })
    // A missing file is not created again.
    try FileManager.default.removeItem(atPath: paths[0])
    try await session.signOut()
    #expect(!FileManager.default.fileExists(atPath: paths[0]))
    for path in paths.dropFirst() { #expect(try await SQLiteCacheStore(path: path).entries(limit: 9).isEmpty) }
  }

  @Test func `a sign-out empties a file through the store that is still there`() async throws {
    try await session.signIn(AccessToken("t1"))
    let store = try SQLiteCacheStore(path: folder.file())
    try await NetworkClient(transport, [.tokenAuth(session), .caching(store)]).send(.get("a"))
    try await session.signOut()
    #expect(try await store.entries(limit: 9).isEmpty)
  }

  @Test(arguments: [true, false])
  func `a sign-out empties a file although the first store over it is closed`(isSecondOpen: Bool) async throws {
    try await session.signIn(AccessToken("t1"))
    let (first, second) = (try SQLiteCacheStore(path: folder.file()), try SQLiteCacheStore(path: folder.file()))
    let client = NetworkClient(transport, [.tokenAuth(session), .caching(first)])
    let variant = client.with { [session] in $0.behaviors = [.tokenAuth(session), .caching(second)] }
    try await client.send(.get("a"))
    try await variant.send(.get("b"))
    await first.close()
    if !isSecondOpen { await second.close() }
    try await session.signOut()
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
    withExtendedLifetime((client, variant)) {}
  }

  @Test func `a reset empties the file of a store that is closed`() async throws {
    let store = try SQLiteCacheStore(path: folder.file())
    let client = NetworkClient(transport, [.caching(store)])
    try await client.send(.get("a"))
    await store.close()
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).count == 1)
    await client.reset()
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
  }

  @Test func `a cache that is opened keeps its file and its folder from other users`() async throws {
    let path = folder.file()
    try await SQLiteCacheStore(path: path).close()
    for (file, mode) in [(path, 0o644), (path + "-bodies", 0o755)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }
    let store = try SQLiteCacheStore(path: path)
    let modes = try [path, path + "-bodies"].map { file in
      try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }
    #expect(modes == [0o600, 0o700])
    await store.close()
  }
}
