#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsSQLite
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Processes that share a token in a database.
  @Suite(.limited) struct SQLiteTokenProcessTests {
    private let place: TokenPlace
    private var path: String { place.file.path(percentEncoded: false) }

    init() throws { place = try TokenPlace("tokens.sqlite") }

    private func session(clock: RequestClock = .system) throws -> TokenSession {
      let endpoint = TokenEndpoint("token", clientID: "app")
      let store = SQLiteTokenStore(try SQLiteStore(path: path), clock: clock)
      return TokenSession(source: .refreshToken(endpoint), store: store)
    }

    @Test(arguments: ["source", "transport"])
    func `a process waits for the refresh of another one, and does not spend a refresh token`(
      place pause: String
    ) async throws {
      try await session().signIn(TokenPlace.firstToken)
      let first = try await place.process(stoppedAt: pause)
      let second = try place.process("start")
      #expect(await second.lines(1) == "paused\n")
      async let ended = second.end(after: Data("go\n".utf8))
      first.resume()
      #expect(await first.end(after: Data("go\n".utf8)).text == "sent\nsigned in\n")
      #expect(await ended.text == "sent\nsigned in\n")
      #expect(place.spent == ["r0"], "no refresh token was sent twice")
    }

    @Test func `the refresh of a process that is killed is made by the next one at once`() async throws {
      try await session().signIn(TokenPlace.firstToken)
      let first = try await place.process(stoppedAt: "transport")
      #expect(await first.kill(afterLines: 0).wasKilled)
      #expect(await (try place.process("nowhere")).end().text == "sent\nsigned in\n")
      #expect(place.spent == ["r0"])
    }

    #if os(Linux)
      @Test func `the lease of a killed process is free at once, before its parent has noticed`() async throws {
        try await session().signIn(TokenPlace.firstToken)
        let first = try await place.process(stoppedAt: "transport")
        await first.killWithoutAsking()
        // On a clock that does not go on, a wait for the lease would have no end.
        let clock = ManualClock(date: Date())
        let store = SQLiteTokenStore(try SQLiteStore(path: path), clock: clock.requestClock)
        let hasRun = Box(false)
        try await store.withLock { hasRun.value = true }
        #expect(hasRun.value)
        withExtendedLifetime(first) {}
      }
    #endif

    @Test func `of several processes one refreshes, and all are signed in`() async throws {
      try await session().signIn(TokenPlace.firstToken)
      let processes = try (0..<4).map { _ in try place.process("start") }
      for process in processes { #expect(await process.lines(1) == "paused\n") }
      let texts = await withTaskGroup(of: String.self) { group in
        for process in processes { group.addTask { await process.end(after: Data("go\n".utf8)).text } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == Array(repeating: "sent\nsigned in\n", count: 4))
      #expect(place.spent == ["r0"])
    }

    @Test func `a process that is stopped for longer than its lease does not send its refresh afterwards`() async throws
    {
      try await session().signIn(TokenPlace.firstToken)
      let first = try await place.process(stoppedAt: "source")
      // 31 seconds later by this process's clock.
      let later = ManualClock(date: Date().addingTimeInterval(31))
      let gate = Gate()
      let client = NetworkClient(
        baseURL: place.baseURL, behaviors: [.tokenAuth(try session(clock: later.requestClock))],
        transport: HoldingTransport(gate: gate))
      let second = Task { try await client.send(.get("a")) }
      await gate.waitForArrival()
      // The second one has taken the lease and has not asked the server yet.
      first.resume()
      #expect(await first.end(after: Data("go\n".utf8)).text == "failed tokenUnavailable\nsigned in\n")
      gate.open()
      try await second.value
      #expect(place.spent == ["r0"])
    }

    @Test func `a sign-out does not wait for a refresh of another process, whose late token is not stored`()
      async throws
    {
      try await session().signIn(TokenPlace.firstToken)
      let first = try await place.process(stoppedAt: "transport")
      try await session().signOut()
      first.resume()
      #expect(await first.end(after: Data("go\n".utf8)).text == "failed signedOut\nsigned out\n")
      #expect(try await session().isSignedIn() == false)
    }
  }

  /// Holds token requests at a gate.
  private struct HoldingTransport: Transport {
    let base = URLSessionTransport()
    let gate: Gate

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      if request.url.lastPathComponent == "token" { await gate.pass() }
      return try await base.send(request)
    }

    func shutdown() async { await base.shutdown() }
  }

  /// Holds arrivals until it is opened, and reports that one has come.
  private final class Gate: Sendable {
    private let arrived = Waiter<Void>()
    private let opened = Waiter<Void>()

    func pass() async {
      arrived.settle(.success(()))
      try? await opened.value()
    }

    func waitForArrival() async { try? await arrived.value() }
    func open() { opened.settle(.success(())) }
  }
#endif
