import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) final class FileTokenStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
  private var file: URL { folder.appending(path: "deep/token.json") }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func permissions(_ url: URL) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path(percentEncoded: false))
  }

  @Test func `a stored token is loaded unchanged, and only the user may read it`() async throws {
    let store = FileTokenStore(url: file)
    #expect(try await store.load() == nil)
    let token = AccessToken(
      "t1", type: "MAC", expiresAt: Date(timeIntervalSince1970: 1_411_129_341.57), lifetime: .milliseconds(1_500),
      refreshToken: "r1", scopes: ["read", "write"])
    try await store.save(token)
    #expect(try await FileTokenStore(url: file).load() == token)
    #expect(try permissions(file) == 0o600)
    #expect(try permissions(file.deletingLastPathComponent()) == 0o700)
    #expect(try names() == ["token.json"])
    try await store.save(nil)
    try await store.save(nil)
    #expect(try await store.load() == nil)
  }

  @Test(arguments: ["", "canary\nb", String(repeating: "canary", count: 200_000)])
  func `a token that could not be read again is not saved`(value: String) async throws {
    let store = FileTokenStore(url: file)
    try await store.save(AccessToken("one"))
    let error = try await #require(throws: NetworkError.self) { try await store.save(AccessToken(value)) }
    #expect(error.code == .tokenStoreFailed)
    #expect(!error.message.contains("canary"))
    await #expect(throws: NetworkError.self) {
      _ = try await store.replace(AccessToken("one"), with: AccessToken(value))
    }
    #expect(try await store.load()?.value == "one")
  }

  @Test func `two paths to one file are one store`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let link = folder.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    let direct = FileTokenStore(url: folder.appending(path: "token.json"))
    #expect(FileTokenStore(url: link.appending(path: "token.json")).location == direct.location)
    #expect(
      FileTokenStore(url: link.appending(path: "../\(folder.lastPathComponent)/token.json")).location == direct.location
    )
    #expect(FileTokenStore(url: folder.appending(path: "other.json")).location != direct.location)
  }

  /// Makes a link to the file, which need not exist, in a folder beside that of the file.
  private func linkToFile(_ target: String = "../deep/token.json") throws -> URL {
    let link = folder.appending(path: "linked/link.json")
    for place in [link, file] {
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(
      atPath: link.path(percentEncoded: false), withDestinationPath: target)
    return link
  }

  @Test func `a sign-out removes the file that a link leads to`() async throws {
    try await FileTokenStore(url: file).save(AccessToken("t1", refreshToken: "r1"))
    let session = TokenSession(source: .signInOnly, store: FileTokenStore(url: try linkToFile()))
    #expect(try await session.isSignedIn())
    try await session.signOut()
    #expect(try names() == [])
  }

  @Test(arguments: [true, false])
  func `a token replaces the file that a link leads to, and not the link`(exists: Bool) async throws {
    if exists { try await FileTokenStore(url: file).save(AccessToken("t1")) }
    let link = try linkToFile()
    try await FileTokenStore(url: link).save(AccessToken("t2"))
    #expect(try await FileTokenStore(url: file).load()?.value == "t2")
    #expect(try await FileTokenStore(url: link).load()?.value == "t2")
    #expect(try names() == ["token.json"])
  }

  @Test func `a file and a link to it are one store with one lock`() async throws {
    let link = try linkToFile(file.path(percentEncoded: false))
    #expect(FileTokenStore(url: link).location == FileTokenStore(url: file).location)
    try await FileTokenStore(url: link).withLock {}
    #expect(try names() == ["token.json.lock"])
  }

  @Test func `the next token removes the permissions of others from the file`() async throws {
    let store = FileTokenStore(url: file)
    try await store.save(AccessToken("t1"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: file.path(percentEncoded: false))
    try await store.save(AccessToken("t2"))
    #expect(try permissions(file) == 0o600)
  }

  @Test(arguments: [
    "", "{", "null", #"{"format":1,"token":{"access_token":"canary"#, #"{"token":{"access_token":"a"}}"#,
  ])
  func `the error for a damaged file names the file, and a sign-out still works`(content: String) async throws {
    let store = FileTokenStore(url: file)
    try await store.save(AccessToken("t1"))
    try Data(content.utf8).write(to: file)
    let session = TokenSession(source: .closure { _ in AccessToken("t2") }, store: store)
    let client = NetworkClient(ClosureTransport(200), [.tokenAuth(session)])
    let error = try await #require(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error.code == .tokenStoreFailed)
    #expect(error.message.contains("token.json is damaged"))
    #expect(error.message.contains("signOut()"))
    #expect(!"\(error)".contains("canary"))
    try await session.signOut()
    try await client.send(.get("a"))
    #expect(try await store.load()?.value == "t2")
  }

  @Test func `a file of a later format is not changed`() async throws {
    let store = FileTokenStore(url: file)
    try await store.save(AccessToken("t1"))
    try Data(#"{"format":2,"token":{"access_token":"a"}}"#.utf8).write(to: file)
    let error = try await #require(throws: NetworkError.self) { try await store.load() }
    #expect(error.message.contains("format 2"))
  }

  @Test func `the error for a file in place of the folder names it`() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: folder.appending(path: "deep"))
    let store = FileTokenStore(url: file)
    let error = try await #require(throws: NetworkError.self) { try await store.save(AccessToken("t1")) }
    #expect(error.code == .tokenStoreFailed)
    #expect(error.message.contains("deep"))
  }

  @Test func `a failed save does not leave another file with the token`() async throws {
    let full = file.appending(path: "inside")
    try FileManager.default.createDirectory(at: full, withIntermediateDirectories: true)
    let error = await #expect(throws: NetworkError.self) { try await FileTokenStore(url: file).save(AccessToken("t1")) }
    #expect(error?.code == .tokenStoreFailed)
    #expect(error?.message.contains("replace") == true)
    #expect(try names() == ["token.json"])
  }

  @Test func `files of an earlier process with the same process ID are removed, as in a container`() async throws {
    let deep = file.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    let number = ProcessInfo.processInfo.processIdentifier
    for name in [".token.json.\(number).earlier.1", ".token.json.notes"] {
      try Data("secret".utf8).write(to: deep.appending(path: name))
    }
    try await FileTokenStore(url: file).save(AccessToken("t1"))
    #expect(try names().sorted() == [".token.json.notes", "token.json"])
  }

  @Test func `two stores of one path are one store for their sessions`() async throws {
    let fetches = Box(0)
    let source = ClosureTokenSource(fetch: { _ in
      fetches.update { $0 += 1 }
      return AccessToken("t1")
    })
    let sessions = [
      TokenSession(source: source, store: FileTokenStore(url: file)),
      TokenSession(source: source, store: FileTokenStore(url: file)),
    ]
    for session in sessions { try await NetworkClient(ClosureTransport(200), [.tokenAuth(session)]).send(.get("a")) }
    #expect(fetches.value == 1)
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: 0..<8)
    func `the file survives a process that is killed while it writes`(round: Int) async throws {
      let executable = try #require(ChildProcess.fixture("TokenFileWriter"))
      let writer = try ChildProcess(executable, [file.path(percentEncoded: false)])
      // How far it gets before it is killed is left to the system; each round begins a little later.
      let output = await writer.kill(afterLines: 3 + round * 5).text
      let told = output.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
      let stored = try #require(try await FileTokenStore(url: file).load())
      let number = try #require(Int(stored.value))
      #expect(number == told || number == told + 1)
      #expect(stored.refreshToken?.count == 8_192)
      try await FileTokenStore(url: file).save(stored)
      #expect(try names() == ["token.json"], "what the killed process left is removed")
    }
  #endif
}
