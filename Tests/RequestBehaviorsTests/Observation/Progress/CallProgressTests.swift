import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The progress of a whole call.
@Suite(.limited) struct CallProgressTests {
  private let progress = TransferProgress()
  private let mock = MockTransport(baseURL: baseURL)

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(mock, LeapingClock().requestClock, behaviors)
  }

  @Test func `a call that succeeds finishes its progress`() async throws {
    mock.on(.put, "x").respond(200, text: "abc")
    async let states = progress.states.reduce(into: []) { $0.append($1) }
    try await client().send(.put("x", body: .text("12345")).with(\.progress, progress))
    let last = try #require(await states.last)
    #expect(last.isFinished)
    #expect(last.sent == 5)
    #expect(last.expectedToSend == 5)
    #expect(last.received == 3)
  }

  @Test func `a retry and a redirect to another origin are further transmissions`() async throws {
    mock.on(.get, "x").respond(503).respond(302, headers: ["Location": "https://other.example/y"])
    mock.on(.get, "https://other.example/y").respond(200, text: "abc")
    try await client(.retry()).send(.get("x").with(\.progress, progress))
    #expect(progress.state.attempt == 3)
    #expect(progress.state.received == 3)
    #expect(progress.state.isFinished)
  }

  @Test func `a call that fails finishes its progress`() async throws {
    mock.on(.get, "x").respond(500, text: "no")
    await #expect(throws: NetworkError.self) { try await client().send(.get("x").with(\.progress, progress)) }
    #expect(progress.state.isFinished)
    #expect(progress.state.received == 2)
  }

  @Test func `a call that cannot be built finishes its progress`() async throws {
    await #expect(throws: NetworkError.self) {
      try await client().send(.get("../../../x").with(\.progress, progress))
    }
    #expect(progress.state.isFinished)
    #expect(progress.state.attempt == 0)
  }

  @Test func `a send after the end of the call does not change its progress`() async throws {
    let behavior = ClosureBehavior("later", order: .caching) { request, next in
      let response = try await next(request)
      request.options.progress?.finish()
      _ = try await next.detached()(request)
      return response
    }
    mock.on(.get, "x").respond(200, text: "abc").respond(200, text: "defgh")
    try await client(behavior).send(.get("x").with(\.progress, progress))
    let state = progress.state
    #expect(state.isFinished)
    #expect(state.attempt == 1)
    #expect(state.received == 3)
  }

  @Test func `a download that cannot begin finishes its progress`() async throws {
    let folder = FileManager.default.temporaryDirectory
    for (destination, checksum) in [(folder, nil), (folder.appending(path: "x"), Checksum.sha256("none"))] {
      let progress = TransferProgress()
      await #expect(throws: NetworkError.self) {
        try await client().download(.get("x").with(\.progress, progress), to: destination, checksum: checksum)
      }
      #expect(progress.state.isFinished)
    }
  }

  @Test func `a value that cannot be decoded finishes the progress`() async throws {
    mock.on(.get, "x").respond(200, jsonText: "\"no number\"")
    await #expect(throws: NetworkError.self) {
      let _: Int = try await client().send(.get("x").with(\.progress, progress))
    }
    #expect(progress.state.isFinished)
  }

  @Test func `a streamed response finishes the progress when its body ends`() async throws {
    let mock = MockTransport(baseURL: baseURL) { request in
      let chunks = ByteStream(chunks: [Data("abc".utf8), Data("de".utf8)])
      return NetworkResponse(request: request, statusCode: 200, body: .stream(chunks))
    }
    let response = try await NetworkClient(mock).stream(.get("x").with(\.progress, progress))
    #expect(!progress.state.isFinished)
    var seen: [Int64] = []
    for try await _ in response.bytes { seen.append(progress.state.received) }
    #expect(seen == [3, 5])
    #expect(progress.state.isFinished)
  }
}
