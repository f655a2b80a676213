#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Processes that share the token of a sign-in, in a file or a database, and are stopped and killed.
  @Suite(.limited, .serialized) struct SharedSignInTests {
    private static let stores = ["token.json", "tokens.sqlite"]
    private static let success = "sent\nsigned in\n"
    private let go = Data("go\n".utf8)

    @Test(arguments: stores)
    func `after a sign-in whose token has expired, two processes refresh once`(store: String) async throws {
      let shared = try SharedSignIn(store)
      try await shared.signIn()
      let first = try await shared.process(waitingAt: "start")
      let second = try await shared.process(waitingAt: "start")
      async let ended = second.end(after: go)
      #expect(await first.end(after: go).text == Self.success)
      #expect(await ended.text == Self.success)
      #expect(shared.refreshes.count == 1)
      #expect(shared.id.reuseCount == 0)
    }

    @Test(arguments: stores, ["source", "transport", "response"])
    func `the refresh of a stopped process blocks the refresh of another process`(
      store: String, place: String
    ) async throws {
      let shared = try SharedSignIn(store)
      try await shared.signIn()
      let first = try await shared.process(waitingAt: place)
      first.pause()
      let second = try await shared.process(waitingAt: "start")
      async let ended = second.end(after: go)
      first.resume()
      #expect(await first.end(after: go).text == Self.success)
      #expect(await ended.text == Self.success)
      #expect(shared.refreshes.count == 1)
      #expect(shared.id.reuseCount == 0)
    }

    @Test func `a process that waits too long for a stopped one fails, sends nothing, and remains signed in`()
      async throws
    {
      let shared = try SharedSignIn("token.json")
      try await shared.signIn()
      let first = try await shared.process(waitingAt: "transport")
      first.pause()
      let clock = ManualClock(date: Date())
      let (session, client) = try shared.client(clock.requestClock)
      let task = Task { await errorCode { try await client.send(.get("a")) } }
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
      #expect(await task.value == .tokenUnavailable)
      #expect(shared.refreshes.isEmpty)
      #expect(try await session.isSignedIn())
      first.resume()
      #expect(await first.end(after: go).text == Self.success)
      // The token of the other process is used now.
      try await client.send(.get("a"))
      #expect(shared.refreshes.count == 1)
    }

    @Test(arguments: stores, ["source", "transport"])
    func `another process sends the refresh of a process that is killed before it sends`(
      store: String, place: String
    ) async throws {
      let shared = try SharedSignIn(store)
      try await shared.signIn()
      let first = try await shared.process(waitingAt: place)
      #expect(await first.kill(afterLines: 0).wasKilled)
      #expect(await (try shared.process("nowhere")).end().text == Self.success)
      #expect(shared.refreshes.count == 1)
      #expect(shared.id.reuseCount == 0)
    }

    @Test(arguments: stores)
    func `another process repeats the refresh of a killed process if the server allows that`(
      store: String
    ) async throws {
      let shared = try SharedSignIn(store, repeatsLast: true)
      try await shared.signIn()
      let first = try await shared.process(waitingAt: "response")
      #expect(await first.kill(afterLines: 0).wasKilled)
      #expect(await (try shared.process("nowhere")).end().text == Self.success)
      #expect(shared.refreshes.count == 2)
      #expect(Set(shared.refreshes).count == 1, "the same refresh token, whose response was lost")
      #expect(shared.id.reuseCount == 0)
    }

    /// The only copy of the newer refresh token is lost, so only the user can sign in again.
    @Test(arguments: stores)
    func `if the server refuses a repeated refresh token, the session ends after one request`(
      store: String
    ) async throws {
      let shared = try SharedSignIn(store)
      try await shared.signIn()
      let first = try await shared.process(waitingAt: "response")
      #expect(await first.kill(afterLines: 0).wasKilled)
      #expect(await (try shared.process("nowhere")).end().text == "failed tokenUnavailable\nsigned out\n")
      #expect(shared.id.reuseCount == 1)
      #expect(await (try shared.process("nowhere")).end().text == "failed notSignedIn\nsigned out\n")
      #expect(shared.id.reuseCount == 1)
    }

    @Test(arguments: stores)
    func `stops and kills of processes neither sign the user out nor spend a refresh token twice`(
      store: String
    ) async throws {
      let shared = try SharedSignIn(store)
      try await shared.signIn()
      var random = SeededGenerator(seed: 48)
      var kills = 0
      for round in 1...8 {
        shared.id.expireAccessTokens()
        let place = ["source", "transport", "response"].randomElement(using: &random) ?? "source"
        let first = try await shared.process(waitingAt: place)
        if Bool.random(using: &random) { first.pause() }
        let second = try await shared.process(waitingAt: "start")
        async let ended = second.end(after: go)
        if place != "response", Bool.random(using: &random) {
          kills += 1
          #expect(await first.kill(afterLines: 0).wasKilled)
        } else {
          first.resume()
          #expect(await first.end(after: go).text == Self.success, "round \(round)")
        }
        #expect(await ended.text == Self.success, "round \(round)")
      }
      #expect(kills > 0)
      #expect(shared.refreshes.count == 8)
      #expect(shared.id.reuseCount == 0)
    }
  }
#endif
