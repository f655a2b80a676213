import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The stored form of a token, and its use by a session.
@Suite(.limited) final class StoredTokenTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let folder = FileManager.default.temporaryDirectory.appending(path: "stored-\(UUID().uuidString)")
  private var file: URL { folder.appending(path: "token.json") }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A store whose content a test may change as another process would.
  private final class OpenStore: TokenStore {
    let token = Box<AccessToken?>(nil)
    let isFull = Box(false)
    let saves = Box<[String?]>([])
    let attempts = TestGate()

    func load() async throws -> AccessToken? { token.value }

    func save(_ new: AccessToken?) async throws {
      defer { attempts.arrive() }
      if isFull.value { throw CocoaError(.fileWriteOutOfSpace) }
      saves.update { $0.append(new?.value) }
      token.value = new
    }
  }

  @Test func `a token with only a lifetime has expired at the next start if the lifetime is over`() async throws {
    let store = OpenStore()
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    let date = fixture.clock.date.addingTimeInterval(3_600)
    #expect(store.token.value?.expiresAt == date)
    fixture.clock.advance(by: .seconds(3_600))
    let stored = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(store.token.value))
    let next = fixture.session(.refreshToken(.test), InMemoryTokenStore(stored))
    try await fixture.client(next).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer t1"])
  }

  @Test func `a refresh token that another process has got for the same token is used`() async throws {
    let store = OpenStore()
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    store.token.update { $0?.refreshToken = "r9" }
    fixture.clock.advance(by: .seconds(3_590))
    try await fixture.client(session).send(.get("a"))
    let sent = server.tokenRequests.map { String(decoding: $0.body?.data ?? Data(), as: UTF8.self) }
    #expect(sent.count == 1)
    #expect(sent.first?.contains("refresh_token=r9") == true)
  }

  @Test func `a token that is taken from the store is not written back`() async throws {
    let store = OpenStore()
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("alice", lifetime: .seconds(3_600), refreshToken: "r0"))
    store.isFull.value = true
    try await fixture.client(session).send(.get("a"))
    // The refreshed token could not be stored, and another user has signed in elsewhere since.
    await fixture.clock.waitForSleepers(1)
    store.isFull.value = false
    store.token.value = AccessToken("bob", refreshToken: "rb")
    let (before, events) = (store.saves.value, session.events)
    fixture.clock.advance(by: .seconds(1))
    #expect(await events.names(through: "signedIn") == ["signedIn"])
    try await session.signOut()
    #expect(store.saves.value == before + [nil])
  }

  @Test func `a token stored at the second attempt is not stored again after a sign-out elsewhere`() async throws {
    let store = OpenStore()
    let session = fixture.session(.refreshToken(.test), store)
    store.isFull.value = true
    await #expect(throws: (any Error).self) {
      try await session.signIn(AccessToken("alice", lifetime: .seconds(3_600), refreshToken: "r0"))
    }
    await fixture.clock.waitForSleepers(1)
    store.isFull.value = false
    fixture.clock.advance(by: .seconds(1))
    await store.attempts.waitForArrivals(2)
    #expect(store.saves.value == ["alice"])
    store.token.value = nil
    // Before the refresh the session looks into the store.
    fixture.clock.advance(by: .seconds(3_590))
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(store.saves.value == ["alice"])
    #expect(server.tokenRequests.isEmpty)
  }

  // MARK: - Rights of a file

  private func mode() throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
    return attributes[.posixPermissions] as? Int
  }

  @Test(arguments: [0o666, 0o644, 0o640, 0o604, 0o700 | 0o010])
  func `reading the token removes the permissions of others from its file`(found: Int) async throws {
    let store = FileTokenStore(url: file)
    try await store.save(AccessToken("t1"))
    try FileManager.default.setAttributes([.posixPermissions: found], ofItemAtPath: file.path(percentEncoded: false))
    #expect(try await store.load()?.value == "t1")
    #expect(try mode() == 0o600)
  }

  @Test func `a folder in the place of a token's file keeps its rights and is named in the error`() async throws {
    try FileManager.default.createDirectory(
      at: file, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let store = FileTokenStore(url: file)
    let error = await #expect(throws: NetworkError.self) { try await store.load() }
    #expect(error?.code == .tokenStoreFailed)
    #expect(error?.message.contains("is a folder, a pipe or a device; name a file") == true)
    #expect(try mode() == 0o755)
  }

  @Test func `a pipe in the place of a token's file is an error at once`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    #expect(mkfifo(file.path(percentEncoded: false), 0o600) == 0)
    let error = await #expect(throws: NetworkError.self) { try await FileTokenStore(url: file).load() }
    #expect(error?.code == .tokenStoreFailed)
  }

  @Test func `a token replaces another one in its file if that is the one that is expected`() async throws {
    let store = FileTokenStore(url: file)
    #expect(try await store.replace(AccessToken("a"), with: AccessToken("b")) == false)
    #expect(try await store.replace(nil, with: AccessToken("a")))
    #expect(try mode() == 0o600)
    #expect(try await store.replace(nil, with: AccessToken("b")) == false)
    #expect(try await store.replace(AccessToken("a"), with: AccessToken("b")))
    #expect(try await store.load()?.value == "b")
    #expect(try await store.replace(AccessToken("b"), with: nil))
    #expect(try await store.load() == nil)
  }

  @Test func `two stores of a file replace its token one after the other`() async throws {
    let file = file
    try await FileTokenStore(url: file).save(AccessToken("0"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let store = FileTokenStore(url: file)
          var count = 0
          while count < 10 {
            let old = try #require(try await store.load())
            let new = AccessToken("\((Int(old.value) ?? 0) + 1)")
            if try await store.replace(old, with: new) { count += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await FileTokenStore(url: file).load()?.value == "40")
  }

  @Test func `the lock for a refresh is a separate file, and does not block a sign-out`()
    async throws
  {
    let file = file
    let store = FileTokenStore(url: file)
    try await store.withLock {
      #expect(FileManager.default.fileExists(atPath: file.path(percentEncoded: false) + ".lock"))
      try? await FileTokenStore(url: file).save(AccessToken("t"))
      try? await FileTokenStore(url: file).save(nil)
    }
    #expect(try await store.load() == nil)
  }
}
