#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Processes that share a token file, as an app and its extension do.
  @Suite(.limited) struct TokenProcessTests {
    private let place: TokenPlace
    private var store: FileTokenStore { FileTokenStore(url: place.file) }

    init() throws { place = try TokenPlace("token.json") }

    private func signIn() async throws {
      try await TokenSession(source: .refreshToken(.test), store: store).signIn(TokenPlace.firstToken)
    }

    @Test(arguments: ["source", "transport"])
    func `a process waits for the refresh of another one, and does not spend a refresh token`(
      place pause: String
    ) async throws {
      try await signIn()
      let first = try await place.process(stoppedAt: pause)
      let second = try place.process("start")
      #expect(await second.lines(1) == "paused\n")
      async let ended = second.end(after: Data("go\n".utf8))
      first.resume()
      #expect(await first.end(after: Data("go\n".utf8)).text == "sent\nsigned in\n")
      #expect(await ended.text == "sent\nsigned in\n")
      #expect(place.spent == ["r0"], "no refresh token was sent twice")
    }

    @Test func `the refresh of a process that is killed is made by the next one`() async throws {
      try await signIn()
      let first = try await place.process(stoppedAt: "transport")
      #expect(await first.kill(afterLines: 0).wasKilled)
      #expect(await (try place.process("nowhere")).end().text == "sent\nsigned in\n")
      #expect(place.spent == ["r0"])
    }

    @Test func `of several processes one refreshes, and all are signed in`() async throws {
      try await signIn()
      let processes = try (0..<4).map { _ in try place.process("start") }
      for process in processes { #expect(await process.lines(1) == "paused\n") }
      let texts = await withTaskGroup(of: String.self) { group in
        for process in processes { group.addTask { await process.end(after: Data("go\n".utf8)).text } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == Array(repeating: "sent\nsigned in\n", count: 4))
      #expect(place.spent == ["r0"])
    }

    @Test func `a sign-out does not wait for a refresh of another process, whose late token is not stored`()
      async throws
    {
      try await signIn()
      let first = try await place.process(stoppedAt: "transport")
      try await TokenSession(source: .refreshToken(.test), store: store).signOut()
      first.resume()
      #expect(await first.end(after: Data("go\n".utf8)).text == "failed signedOut\nsigned out\n")
      #expect(try await store.load() == nil)
    }

    #if os(Linux)
      @Test(arguments: ["fsync", "rename"], [nil, "other"])
      func `a process that is slow to store its token undoes neither a sign-out nor a sign-in of another`(
        call: String, next: String?
      ) async throws {
        try await signIn()
        let slow = try place.process(call)
        #expect(await slow.lines(1) == "paused\n")
        let session = TokenSession(source: .refreshToken(.test), store: store)
        if let next { try await session.signIn(AccessToken(next)) } else { try await session.signOut() }
        let text = await slow.end(after: Data("go\n".utf8)).text
        #expect(text == "failed signedOut\nsigned \(next == nil ? "out" : "in")\n")
        #expect(try await store.load()?.value == next)
      }

      @Test(arguments: [("rename", "not removed\n"), ("unlink", "removed\n")])
      func `a process that is slow to remove a token leaves a newer one of another process`(
        call: String, outcome: String
      ) async throws {
        try await signIn()
        let slow = try place.process("remove \(call)")
        #expect(await slow.lines(1) == "paused\n")
        try await TokenSession(source: .refreshToken(.test), store: store).signIn(AccessToken("newer"))
        #expect(await slow.end(after: Data("go\n".utf8)).text == outcome)
        #expect(try await store.load()?.value == "newer")
      }
    #endif
  }
#endif
