import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct Prompt: Encodable, Sendable {
  var text = "?"
}

private struct Overloaded: Error, Equatable {
  let reason: String
}

private final class StopButton: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var action: @Sendable () -> Void = {}

  func onTap(_ action: @escaping @Sendable () -> Void) { lock.withLock { self.action = action } }

  func tap() { lock.withLock { action }() }
}

private struct Chat: Sendable {
  let client: NetworkClient
  let journal = Journal()

  func show(_ text: String) { journal.note(text) }

  struct Part: Decodable {
    struct Usage: Decodable { let input: Int, output: Int }

    let text: String?
    let usage: Usage?
  }

  /// Shows a reply as it comes, and returns its price in tokens.
  func reply(to prompt: Prompt) async throws -> Part.Usage? {
    let parts = client.events(.post("messages", body: .json(prompt)))
      .until { $0.data == "[DONE]" }
      .idleTimeout(.seconds(60))
      .decode(Part.self)
    var usage: Part.Usage?
    for try await part in parts {
      if let text = part.text { show(text) }
      usage = part.usage ?? usage
    }
    return usage
  }

  func read(_ request: Request<NetworkResponse>) async throws {
    for try await event in client.events(request) {
      if event.type == "error" { throw Overloaded(reason: event.data) }
      show(event.data)
    }
  }
}

/// The samples of "APIs that generate text", over a real connection.
@Suite(.limited) struct TextGenerationTests {
  private static let events = [
    "data: {\"text\":\"Hel\"}\n\n", "data: {\"text\":\"lo\"}\n\n",
    "data: {\"usage\":{\"input\":12,\"output\":2}}\n\n", "data: [DONE]\n\n",
  ]

  private let server: LoopbackServer
  private let chat: Chat

  init() throws {
    server = try LoopbackServer()
    let (baseURL, key) = (server.baseURL, "s3cret")
    let policy = RetryPolicy(
      statuses: .transient.union([529]),
      refusals: RefusalPolicy(statuses: [421, 429, 529]))
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .logging(), .apiKey("X-API-Key", key),
        .retry(policy, budget: RetryBudget(reserve: 3)),
      ])
    // The waits between sends are over at once on this clock; the limits of the waits for events, of 60 s, do not pass.
    let clock = RequestClock(
      now: { RequestClock.immediate.now() }, date: { RequestClock.immediate.date() },
      sleep: { duration in
        if duration >= .seconds(60) { try await Task.sleep(for: .seconds(3_600)) }
        try Task.checkCancellation()
      })
    chat = Chat(client: client.with { $0.clock = clock })
  }

  private func stream(_ events: [String]) -> LoopbackResponse {
    LoopbackResponse.chunked(events).header("Content-Type", "text/event-stream")
  }

  @Test func `a reply is shown in parts, and its usage comes late`() async throws {
    server.enqueue(stream(Self.events))
    let usage = try await chat.reply(to: Prompt())
    #expect(chat.journal.entries == ["Hel", "lo"])
    #expect(usage?.output == 2)
  }

  @Test(arguments: [429, 529]) func `a refusal is repeated when the service says`(status: Int) async throws {
    let refusal = LoopbackResponse.status(status).header("Retry-After", "7")
    server.enqueue(refusal, refusal, refusal, stream(Self.events))
    _ = try await chat.reply(to: Prompt())
    #expect(chat.journal.entries == ["Hel", "lo"])
    #expect(server.requestCount == 4)
  }

  @Test(arguments: [500, 503]) func `a failure after the prompt was read is not repeated`(status: Int) async throws {
    server.enqueue(LoopbackResponse.status(status))
    let error = await #expect(throws: NetworkError.self) { _ = try await chat.reply(to: Prompt()) }
    #expect(error?.statusCode == status)
    #expect(server.requestCount == 1)
  }

  @Test func `a request is not repeated after the first event`() async throws {
    server.enqueue(stream(Self.events).fault(.close, at: .body(after: 30)))
    await #expect(throws: NetworkError.self) { _ = try await chat.reply(to: Prompt()) }
    #expect(server.requestCount == 1)
  }

  @Test func `an event may be an error`() async throws {
    server.enqueue(stream(["data: Hel\n\n", "event: error\ndata: overloaded\n\n"]))
    await #expect(throws: Overloaded(reason: "overloaded")) {
      try await chat.read(.post("messages", body: .json(Prompt())))
    }
    #expect(chat.journal.entries == ["Hel"])
  }

  @Test func `the user stops a reply`() async throws {
    let gate = LoopbackGate()
    server.enqueue(stream(Self.events).held(by: gate, at: .body(after: 24)))
    let (chat, prompt, stopButton) = (chat, Prompt(), StopButton())
    @Sendable func reply(to prompt: Prompt) async throws -> Int? { try await chat.reply(to: prompt)?.output }
    let reading = Task { try await reply(to: prompt) }
    stopButton.onTap { reading.cancel() }
    await gate.waitForArrivals(1)
    stopButton.tap()
    await #expect(throws: CancellationError.self) { _ = try await reading.value }
    gate.open()
  }
}
