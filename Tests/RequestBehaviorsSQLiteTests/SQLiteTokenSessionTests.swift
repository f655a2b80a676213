import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import Testing

/// Answers each request, once the token it carries was looked up in the file by another store.
private struct StoredTokenTransport: Transport {
  let tokens: SQLiteTokenStore
  let isStored: @Sendable (Bool) -> Void

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let stored = try await tokens.load().map { "Bearer \($0.value)" }
    isStored(stored != nil && request.headers["Authorization"] == stored)
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}

/// Counts from any task.
private final class Tally: @unchecked Sendable {
  // `counts` is protected by `lock`.
  private let lock = NSLock()
  private var counts: [Bool: Int] = [:]

  func add(_ value: Bool) { lock.withLock { counts[value, default: 0] += 1 } }
  subscript(_ value: Bool) -> Int { lock.withLock { counts[value, default: 0] } }
}

@Suite(.limited) struct SQLiteTokenSessionTests {
  private func client(
    _ session: TokenSession, _ file: String, _ tally: Tally = Tally()
  ) throws -> NetworkClient {
    let other = SQLiteTokenStore(try SQLiteStore(path: file))
    return NetworkClient(
      baseURL: try #require(URL(string: "https://api.example.com/")), behaviors: [.tokenAuth(session)],
      transport: StoredTokenTransport(tokens: other) { tally.add($0) })
  }

  @Test func `a token is in the file before the requests that waited for it are sent`() async throws {
    let folder = try TemporaryFolder()
    let asked = Tally()
    let source = ClosureTokenSource { _ in
      asked.add(true)
      return AccessToken("fresh")
    }
    let session = TokenSession(source: source, store: SQLiteTokenStore(try SQLiteStore(path: folder.file())))
    let tally = Tally()
    let client = try client(session, folder.file(), tally)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await client.send(.get("x")) } }
      try await group.waitForAll()
    }
    #expect((tally[true], tally[false]) == (20, 0))
    #expect(asked[true] == 1)
  }

  @Test func `a session over the same file follows the sign-in and the sign-out of the other`() async throws {
    let folder = try TemporaryFolder()
    func makeSession() throws -> TokenSession {
      let source = ClosureTokenSource { _ in throw NetworkError.notSignedIn() }
      return TokenSession(source: source, store: SQLiteTokenStore(try SQLiteStore(path: folder.file())))
    }
    try await makeSession().signIn(AccessToken("kept"))
    let second = try makeSession()
    let tally = Tally()
    try await client(second, folder.file(), tally).send(.get("x"))
    #expect(tally[true] == 1)
    try await second.signOut()
    #expect(try await makeSession().isSignedIn() == false)
  }

  @Test func `a session over a file that was closed and opened again writes the open one`() async throws {
    let folder = try TemporaryFolder()
    let source = ClosureTokenSource { _ in throw NetworkError.notSignedIn() }
    let one = try SQLiteStore(path: folder.file())
    let first = TokenSession(source: source, store: SQLiteTokenStore(one))
    try await first.signIn(AccessToken("kept"))
    await one.close()
    let tokens = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
    let second = TokenSession(source: source, store: tokens)
    #expect(try await second.isSignedIn())
    try await second.signOut()
    #expect(try await tokens.load() == nil)
    withExtendedLifetime(first) {}
  }

  @Test func `a session continues when the store of another session over its file is closed`() async throws {
    let folder = try TemporaryFolder()
    let source = ClosureTokenSource { _ in throw NetworkError.notSignedIn() }
    let (one, two) = (try SQLiteStore(path: folder.file()), try SQLiteStore(path: folder.file()))
    let first = TokenSession(source: source, store: SQLiteTokenStore(one))
    let second = TokenSession(source: source, store: SQLiteTokenStore(two))
    try await first.signIn(AccessToken("kept"))
    await one.close()
    try await second.signIn(AccessToken("newer"))
    #expect(try await SQLiteTokenStore(two).load()?.value == "newer")
    // The session over the closed store shares the open one.
    try await first.signOut()
    #expect(try await SQLiteTokenStore(two).load() == nil)
  }

  @Test func `a session does not keep the stores of released sessions`() async throws {
    let folder = try TemporaryFolder()
    let source = ClosureTokenSource { _ in throw NetworkError.notSignedIn() }
    let first = TokenSession(source: source, store: SQLiteTokenStore(try SQLiteStore(path: folder.file())))
    weak var released: SQLiteTokenStore?
    do {
      let tokens = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
      released = tokens
      try await TokenSession(source: source, store: tokens).signIn(AccessToken("kept"))
    }
    #expect(released == nil)
    #expect(try await first.isSignedIn())
  }

  @Test func `a damaged file fails the request with an error that names the damage`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    try await SQLiteTokenStore(store).save(AccessToken("hidden"))
    await store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file()))
    // The first page stays, so that the file opens; those of the table are destroyed.
    for offset in 4096..<bytes.count { bytes[offset] = 0xA5 }
    try bytes.write(to: URL(fileURLWithPath: folder.file()))

    let asked = Tally()
    let source = ClosureTokenSource { _ in
      asked.add(true)
      return AccessToken("other")
    }
    let session = TokenSession(source: source, store: SQLiteTokenStore(try SQLiteStore(path: folder.file())))
    let error = await #expect(throws: NetworkError.self) {
      try await client(session, folder.file()).send(.get("x"))
    }
    #expect(error?.code == .tokenStoreFailed)
    #expect((error?.underlyingError as? SQLiteError)?.code == .corrupt)
    #expect(asked[true] == 0)
    #expect(error.map { "\($0)" }?.contains("hidden") == false)
  }
}
