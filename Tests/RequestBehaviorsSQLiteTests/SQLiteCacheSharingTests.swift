import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Two objects and two processes that use one file: what one removes, the other does not bring back.
@Suite(.limited) struct SQLiteCacheSharingTests {
  /// The event that makes a response under way invalid.
  enum Removal: String, CaseIterable, Sendable {
    case put, signOut, reset
  }

  /// A user whose session the test ends.
  private struct User: RequestBehavior {
    func scope(for request: NetworkRequest) -> String? { "alice" }
  }

  /// Answers a GET when the test lets it.
  private final class HeldServer: Transport {
    let asked = AsyncStream.makeStream(of: Void.self)
    private let answer = AsyncStream.makeStream(of: Never.self)

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      if request.method == .get {
        asked.continuation.yield()
        for await _ in answer.stream {}
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=600"], body: .data(Data("old".utf8)))
    }

    func letGo() { answer.continuation.finish() }
    func shutdown() async {}
  }

  private func client(
    _ store: SQLiteCacheStore, _ transport: any Transport, onEvent: (@Sendable (CacheEvent) -> Void)? = nil
  ) -> NetworkClient {
    NetworkClient(
      baseURL: URL(string: "https://api.example.com")!, behaviors: [.caching(store, onEvent: onEvent), User()],
      transport: transport)
  }

  private func make(_ removal: Removal, with client: NetworkClient, _ store: SQLiteCacheStore) async throws {
    switch removal {
    case .put: _ = try await client.send(Request<NetworkResponse>(.put, "a"))
    case .signOut: await CachingBehavior(store).scopeEnded("alice")
    case .reset: await client.reset()
    }
  }

  @Test(arguments: Removal.allCases)
  func `a response under way at one object is not stored if another object makes it invalid`(
    removal: Removal
  ) async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (try SQLiteCacheStore(path: folder.file()), try SQLiteCacheStore(path: folder.file()))
    let server = HeldServer()
    let refusals = Box<[CacheRefusal]>([])
    let getting = client(one, server) { event in if let refusal = event.refusal { refusals.append(refusal) } }
    async let response: NetworkResponse = getting.send(.get("a"))
    for await _ in server.asked.stream { break }
    try await make(removal, with: client(other, server), other)
    server.letGo()
    #expect(try await response.text == "old")
    #expect(refusals.value == [.changedMeanwhile])
    #expect(try await one.entries(limit: 9).isEmpty)
    // A request sent after it is stored.
    _ = try await getting.send(.get("a")) as NetworkResponse
    #expect(try await other.entries(limit: 9).count == 1)
  }

  @Test func `a large body that was stored by the file's path is found by a link`() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "store.sqlite")
    let server = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=600"],
        body: .data(Data(repeating: 7, count: 100_000)))
    }
    for name in ["store.sqlite", "link"] {
      let client = try client(SQLiteCacheStore(path: folder.file(name)), server)
      let response: NetworkResponse = try await client.send(.get("a"))
      #expect(response.source == (name == "link" ? .cache : .network))
    }
  }

  /// Holds its first request until the test lets it go, and says how many came before each.
  private func numberedServer(_ gate: TestGate) -> ClosureTransport {
    ClosureTransport(numbered: { number, request in
      if number == 1 { await gate.pass() }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=600", "Content-Location": "/a"],
        body: .data(Data("\(number)".utf8)))
    })
  }

  @Test func `a response does not replace that to a request which was sent later`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    let gate = TestGate()
    let client = client(store, numberedServer(gate))
    let slow = Task { try await client.send(Request<String>.get("a")) }
    await gate.waitForArrivals(1)
    #expect(try await client.send(Request<String>.get("a").with(\.caching, .reload)) == "2")
    gate.open()
    #expect(try await slow.value == "1")
    #expect(try await client.send(Request<String>.get("a")) == "2")
  }

  @Test func `a reset while another process locks the file leaves no response for the next launch`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(
      path: folder.file(), capacity: 1 << 20, maximumBodySize: nil, clock: .system,
      configuration: SQLiteConfiguration(busyTimeout: .zero))
    let transport = ClosureTransport(200, "old", headers: ["Cache-Control": "max-age=600"])
    let client = client(store, transport)
    _ = try await client.send(.get("a")) as NetworkResponse
    let (other, held) = (try SQLiteStore(path: folder.file()), HeldWork())
    let writing = Task { try await other.write { _ in held.hold() } }
    await held.isHeld()
    await client.reset()
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
    held.letGo()
    _ = try? await writing.value
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
    #expect(try await client.send(Request<NetworkResponse>.get("a")).source == .network)
  }

  @Test func `a sign-out while another process locks the file leaves no response for the next launch`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(
      path: folder.file(), capacity: 1 << 20, maximumBodySize: nil, clock: .system,
      configuration: SQLiteConfiguration(busyTimeout: .zero))
    let session = TokenSession(source: .signInOnly)
    let transport = ClosureTransport(200, "old", headers: ["Cache-Control": "max-age=600"])
    let client = NetworkClient(transport, [.tokenAuth(session), .caching(store)])
    try await session.signIn(AccessToken("t1"), as: "alice")
    try await client.send(.get("a"))
    let (other, held) = (try SQLiteStore(path: folder.file()), HeldWork())
    let writing = Task { try await other.write { _ in held.hold() } }
    await held.isHeld()
    try await session.signOut()
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
    held.letGo()
    _ = try? await writing.value
    #expect(try await SQLiteCacheStore(path: folder.file()).entries(limit: 9).isEmpty)
    try await session.signIn(AccessToken("t2"), as: "alice")
    #expect(try await client.send(Request<NetworkResponse>.get("a")).source == .network)
  }

  @Test func `removals at one time all succeed while another process has the file locked`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(
      path: folder.file(), capacity: 1 << 20, maximumBodySize: nil, clock: .system,
      configuration: SQLiteConfiguration(busyTimeout: .zero))
    let (other, held) = (try SQLiteStore(path: folder.file()), HeldWork())
    let writing = Task { try await other.write { _ in held.hold() } }
    await held.isHeld()
    let failures = await withTaskGroup(of: (any Error)?.self) { group in
      for user in 0..<100 {
        group.addTask {
          do {
            try await store.removeAll(scope: "user \(user)")
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    held.letGo()
    _ = try? await writing.value
    #expect(failures.isEmpty)
    withExtendedLifetime(folder) {}
  }

  /// Lets a store wait with work while another process replaces its file.
  ///
  /// - Returns: The store of the other process, and its mark before the work was done.
  private func replaceFile(
    of store: SQLiteCacheStore, in folder: TemporaryFolder, during work: @escaping @MainActor () async throws -> Void
  ) async throws -> (other: SQLiteCacheStore, mark: CacheMark) {
    let (writer, held) = (store.database, HeldWork())
    let writing = Task { try await writer.write { _ in held.hold() } }
    await held.isHeld()
    let waiting = await queue(work)
    try removeFile(at: folder.file())
    let other = try SQLiteCacheStore(path: folder.file())
    let mark = try await other.mark()
    held.letGo()
    _ = try? await writing.value
    try await waiting.value
    return (other, mark)
  }

  /// Removes a file with its `-wal` and `-shm`, as another process does that finds it damaged.
  private func removeFile(at path: String) throws {
    for file in [path + "-wal", path + "-shm", path] { try FileManager.default.removeItem(atPath: file) }
  }

  @Test(arguments: Removal.allCases)
  func `a removal that waits while another process replaces the file is made in the new file`(
    removal: Removal
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    let (other, mark) = try await replaceFile(of: store, in: folder) {
      switch removal {
      case .put: try await store.removeAll(url: "https://api.example.com/a")
      case .signOut: try await store.removeAll(scope: "alice")
      case .reset: try await store.removeAll()
      }
    }
    #expect(try await other.mark() != mark)
    #expect(store.digestKey == other.digestKey)
  }

  @Test func `a response that is stored while another process replaces the file is in the new file`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    // The body has a file of its own.
    let transport = ClosureTransport(
      200, String(repeating: "a", count: 100_000), headers: ["Cache-Control": "max-age=600"])
    _ = try await client(store, transport).send(.get("a")) as NetworkResponse
    let key = try #require(try await store.entries(limit: 1).first?.key)
    let response = try #require(try await store.response(for: key, matching: [:]))
    let (other, _) = try await replaceFile(of: store, in: folder) {
      _ = try await store.save(response, for: key, matching: [:])
    }
    #expect(try await other.response(for: key, matching: [:])?.body.count == 100_000)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file() + "-bodies").count == 1)
  }

  @Test func `a cache opens although another process replaces the file during the opening`() async throws {
    let folder = try TemporaryFolder()
    let (path, steps) = (folder.file(), Locked(0))
    var configuration = SQLiteConfiguration(busyTimeout: .seconds(1))
    configuration.trace = { event in
      // After the tables were made in the file that goes, and before they are read.
      let step = steps.withLock { steps in
        if event.sql == "COMMIT" { steps += 1 }
        return event.sql == "COMMIT" ? steps : 0
      }
      guard step == 1 else { return }
      try? removeFile(at: path)
      _ = try? SQLiteStore(path: path)
    }
    let store = try SQLiteCacheStore(
      path: path, capacity: 1 << 20, maximumBodySize: nil, clock: .system, configuration: configuration)
    #expect(steps.withLock { $0 } > 1)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=600"])
    _ = try await client(store, transport).send(.get("a")) as NetworkResponse
    #expect(try await store.entries(limit: 9).count == 1)
  }

  @Test(arguments: [false, true])
  func `a cache goes on although another process removes the file at the end of the opening`(
    isReplaced: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let (path, hasHappened) = (folder.file(), Locked(false))
    var configuration = SQLiteConfiguration(busyTimeout: .seconds(1))
    configuration.trace = { event in
      guard event.sql.hasPrefix("SELECT digest_key"), !hasHappened.withLock({ $0 }) else { return }
      hasHappened.withLock { $0 = true }
      try? removeFile(at: path)
      if isReplaced { _ = try? SQLiteCacheStore(path: path) }
    }
    let store = try SQLiteCacheStore(
      path: path, capacity: 1 << 20, maximumBodySize: nil, clock: .system, configuration: configuration)
    #expect(hasHappened.withLock { $0 })
    try await store.removeAll(url: "https://api.example.com/a")
    #expect(try SQLiteCacheStore(path: path).digestKey == store.digestKey)
  }

  @Test func `a write that is cancelled makes its URL invalid in the file`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    let gate = TestGate()
    let transport = ClosureTransport { request in
      if request.method == .put { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=600"])
    }
    let client = client(store, transport)
    _ = try await client.send(.get("a")) as NetworkResponse
    let put = Task { try await client.send(.put("a")) }
    await gate.waitForArrivals(1)
    put.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await put.value }
    #expect(try await store.entries(limit: 9).isEmpty)
  }

  @Test(arguments: Removal.allCases)
  func `the response to a POST under way at one object is not stored if another object makes it invalid`(
    removal: Removal
  ) async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (try SQLiteCacheStore(path: folder.file()), try SQLiteCacheStore(path: folder.file()))
    let gate = TestGate()
    let server = numberedServer(gate)
    let posting = client(one, server)
    let post = Task { try await posting.send(.post("a")) as NetworkResponse }
    await gate.waitForArrivals(1)
    try await make(removal, with: client(other, server), other)
    gate.open()
    _ = try await post.value
    #expect(try await one.entries(limit: 9).isEmpty)
    // An undisturbed response is stored.
    _ = try await posting.send(.post("a")) as NetworkResponse
    #expect(try await one.entries(limit: 9).count == 1)
  }

  @Test func `a streamed response under way at one object is not stored when another changes its URL`() async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (try SQLiteCacheStore(path: folder.file()), try SQLiteCacheStore(path: folder.file()))
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com")!)
    mock.on(.get, "a").stream([Data("1".utf8), Data("2".utf8)], headers: ["Cache-Control": "max-age=600"])
    mock.on(.put, "a").respond(204)
    let response: NetworkResponse = try await client(one, mock).send(.get("a").with(\.delivery, .streamed))
    guard case .stream(let stream) = response.body else {
      Issue.record("the body is no stream")
      return
    }
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    _ = try await client(other, mock).send(Request<NetworkResponse>(.put, "a"))
    while try await iterator.next() != nil {}
    #expect(try await one.entries(limit: 9).isEmpty)
  }

  @Test func `a store continues with the file by which another process has replaced a damaged one`() async throws {
    let folder = try TemporaryFolder()
    let bench = try CacheBench(folder)
    bench.serve("old")
    _ = try await bench.send("a")
    try removeFile(at: folder.file("cache.sqlite"))
    let other = try SQLiteCacheStore(path: folder.file("cache.sqlite"), clock: bench.clock.requestClock)
    bench.serve("new")
    #expect(try await bench.send("a").text == "new")
    #expect(bench.store.digestKey == other.digestKey)
    #expect(try await other.entries(limit: 9).count == 1)
    try await other.removeAll()
    #expect(try await bench.send("a").source == .network)
  }

  @Test func `a closed store does not create a file after its own was removed`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    await store.close()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.file(file))
    }
    await #expect(throws: SQLiteError.self) { try await store.removeAll() }
    await #expect(throws: SQLiteError.self) { try await store.entries(limit: 1) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `a mark of a replaced file is not valid in the new file`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteCacheStore(path: folder.file())
    let mark = try await store.mark()
    await store.close()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.file(file))
    }
    let next = try SQLiteCacheStore(path: folder.file())
    #expect(try await next.mark() != mark)
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com")!)
    mock.on(.get, "a").respond(200, headers: ["Cache-Control": "max-age=600"])
    _ = try await client(next, mock).send(.get("a")) as NetworkResponse
    let entry = try #require(try await next.entries(limit: 1).first)
    #expect(
      try await next.save(entry.response, for: entry.key, matching: [:], since: mark) == .refused(.changedMeanwhile))
  }

  #if os(macOS) || os(Linux)
    @Test(arguments: Removal.allCases)
    func `a response under way here is not stored if another process makes it invalid`(
      removal: Removal
    ) async throws {
      let folder = try TemporaryFolder()
      let store = try SQLiteCacheStore(path: folder.file())
      let server = HeldServer()
      async let response: NetworkResponse = client(store, server).send(.get("a"))
      for await _ in server.asked.stream { break }
      let executable = try #require(ChildProcess.fixture("CrashingWriter"))
      let child = try await ChildProcess.run(executable, [folder.file(), "a", removal.rawValue, "cache-remove"])
      #expect(child.text == "removed\n")
      server.letGo()
      #expect(try await response.text == "old")
      #expect(try await store.entries(limit: 9).isEmpty)
    }

    @Test(arguments: Removal.allCases)
    func `a response under way in another process is not stored if this one makes it invalid`(
      removal: Removal
    ) async throws {
      let folder = try TemporaryFolder()
      let store = try SQLiteCacheStore(path: folder.file())
      let executable = try #require(ChildProcess.fixture("CrashingWriter"))
      let child = try ChildProcess(executable, [folder.file(), "a", "", "cache-get"])
      #expect(await child.lines(1) == "asked\n")
      try await make(removal, with: client(store, HeldServer()), store)
      #expect(await child.end(after: Data("answer\n".utf8)).text == "\(CacheRefusal.changedMeanwhile)\n")
      #expect(try await store.entries(limit: 9).isEmpty)
    }
  #endif
}
