#if os(macOS) || os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Short runs of the program that runs an outbox for as long as one likes: kills, users, portals and random steps.
  @Suite(.limited, .serialized) struct OutboxSoakTests {
    private func run(_ arguments: String...) async throws {
      let program = try #require(ChildProcess.fixture("OutboxSoak"))
      let result = try await ChildProcess(program, arguments, keepsErrors: true).end()
      #expect(result.status == 0, "\(result.text)")
      #expect(result.text.hasPrefix(arguments[0]))
    }

    @Test(arguments: ["1", "2"]) func `acknowledged entries arrive under one key and in order, through kills`(
      processes: String
    ) async throws {
      try await run("kills", "12", processes)
    }

    @Test func `acknowledged entries arrive over real connections, through kills`() async throws {
      try await run("kills", "4", "1", "network")
    }

    @Test func `no request is sent with another user's token while users sign in and out`() async throws {
      try await run("users", "400")
    }

    @Test func `a long queue arrives once, each lane in order`() async throws { try await run("drain", "1000") }

    @Test func `no portal removes or refuses an entry over real connections`() async throws {
      try await run("portals")
    }

    @Test(arguments: ["1", "10"])
    func `random steps beside sending outboxes leave the result of a list, in memory and in a file`(
      seed: String
    ) async throws {
      try await run("steps", "600", seed)
    }
  }
#endif
