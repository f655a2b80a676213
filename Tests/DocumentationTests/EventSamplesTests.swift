import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct Delta: Decodable { let text: String }

/// The samples of "Lines and server-sent events".
@Suite(.limited) struct EventSamplesTests {
  private let journal = Journal()

  private func show(_ text: String) { journal.note(text) }

  private func save(_ user: User) { journal.note(user.name) }

  /// Stands for the standard library's function, so that a test knows what a sample printed.
  private func print(_ line: String) { journal.note(line) }

  private func client(_ text: String, type: String = "text/event-stream") -> NetworkClient {
    let mock = MockTransport(baseURL: baseURL)
    for method in [RequestMethod.get, .post] {
      mock.on(method, "**").respond(200, headers: ["Content-Type": type], body: Data(text.utf8)).times(1)
      mock.on(method, "**").respond(204)
    }
    return NetworkClient(baseURL: baseURL, transport: mock)
  }

  @Test func `lines are read as they come`() async throws {
    let client = client("one\nERROR two\n", type: "text/plain")
    do {
      let response = try await client.stream(.get("log"))
      for try await line in response.lines where line.hasPrefix("ERROR") {
        print(line)
      }
    }
    #expect(journal.entries == ["ERROR two"])
  }

  @Test func `all lines are read`() async throws {
    let client = client("one\n", type: "text/plain")
    let response = try await client.stream(.get("log"))
    for try await line in response.lines {
      print(line)
    }
    #expect(journal.entries == ["one"])
  }

  @Test func `JSON lines become values`() async throws {
    let client = client("{\"name\":\"Mona\"}\n", type: "application/x-ndjson")
    for try await user: User in client.jsonLines(.get("users/export")) {
      save(user)
    }
    #expect(journal.entries == ["Mona"])
  }

  @Test func `JSON lines are saved`() async throws {
    let client = client("{\"name\":\"Mona\"}\n", type: "application/x-ndjson")
    for try await user: User in client.jsonLines(.get("export")) {
      save(user)
    }
    #expect(journal.entries == ["Mona"])
  }

  @Test func `events are connected again until the server ends them`() async throws {
    let client = client("event: price\ndata: 7\n\n").with { $0.clock = .immediate }
    let prices = client.events(
      .get("prices"), reconnecting: .automatic)
    for try await event in prices where event.type == "price" {
      show(event.data)
    }
    #expect(journal.entries == ["7"])
  }

  @Test func `a feed is connected again until the server ends it`() async throws {
    let client = client("event: price\ndata: 7\n\n").with { $0.clock = .immediate }
    let feed = client.events(
      .get("feed"), reconnecting: .automatic)
    for try await event in feed where event.type == "price" {
      show(event.data)
    }
    #expect(journal.entries == ["7"])
  }

  @Test func `an event is decoded after its type was looked at`() async throws {
    struct Part: Decodable { var text: String }
    struct Usage: Decodable { var tokens: Int }
    func note(_ tokens: Int) { journal.note("\(tokens)") }
    let prompt = "hello"
    let client = client("event: part\ndata: {\"text\":\"a\"}\n\nevent: usage\ndata: {\"tokens\":7}\n\n")
    let events = client.events(.post("chat", body: .json(prompt)))
    for try await event in events {
      switch event.type {
      case "part": show(try event.decode(Part.self).text)
      case "usage": note(try event.decode(Usage.self).tokens)
      default: continue
      }
    }
    #expect(journal.entries == ["a", "7"])
  }

  @Test func `a text in parts ends at the event that marks its end`() async throws {
    let client = client("data: {\"text\":\"a\"}\n\ndata: [DONE]\n\ndata: x\n\n")
    let question = ["text": "?"]
    let response = try await client.stream(
      .post("chat", body: .json(question)))
    let deltas = response.events
      .until { $0.data == "[DONE]" }
      .idleTimeout(.seconds(30))
      .decode(Delta.self)
    for try await delta in deltas {
      show(delta.text)
    }
    #expect(journal.entries == ["a"])
  }

  @Test func `deltas are shown`() async throws {
    let client = client("data: {\"text\":\"a\"}\n\ndata: [DONE]\n\n")
    let question = ["text": "?"]
    let response = try await client.stream(
      .post("chat", body: .json(question)))
    let deltas = response.events
      .until { $0.data == "[DONE]" }
      .decode(Delta.self)
    for try await delta in deltas { show(delta.text) }
    #expect(journal.entries == ["a"])
  }
}
