import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Server-sent events of a response, and of a request.
@Suite(.limited) struct ResponseEventsTests {
  private struct Delta: Decodable, Equatable { let text: String }

  @Test func `the events of bytes and a stream are the same`() async throws {
    let text = Data("data: one\n\nevent: x\ndata: two\n\n".utf8)
    for body in [.data(text), .stream(ByteStream(chunks: text.map { Data([$0]) }))] as [ResponseBody] {
      let response = NetworkResponse(request: NetworkRequest(url: baseURL), statusCode: 200, body: body)
      #expect(
        try await response.events.all() == [ServerSentEvent(data: "one"), ServerSentEvent(type: "x", data: "two")])
    }
  }

  @Test func `events end before the terminating one, and the stream is cancelled`() async throws {
    let server = StreamFixture(.init("data: one\n\ndata: [DONE]\n\ndata: two\n\n", isOpen: true))
    let response = try await server.client().stream(.post("chat"))
    var events = response.events.until { $0.data == "[DONE]" }.makeAsyncIterator()
    #expect(try await events.next()?.data == "one")
    #expect(try await events.next() == nil)
    #expect(try await events.next() == nil)
    #expect(server.cancellations.value == 1)
  }

  @Test func `events that end with the terminating one are a success, also of a body that a behavior wrapped`()
    async throws
  {
    for isWrapped in [false, true] {
      let server = StreamFixture(.init("data: one\n\ndata: [DONE]\n\n", isOpen: true))
      let reports = Box<[CallReport]>([])
      let wrapping = ClosureBehavior("wrapping") { request, next in
        var response = try await next(request)
        if isWrapped, case .stream(let stream) = response.body { response.body = .stream(stream.wrapped { $0 }) }
        return response
      }
      let client = server.client([wrapping, .onCallEnd { report in reports.update { $0.append(report) } }])
      let events = client.events(.get("chat")).until { $0.data == "[DONE]" }
      #expect(try await events.all().count == 1)
      let report = try #require(reports.value.first)
      #expect(report.error == nil)
      guard case .response(200, _)? = report.call.attempts.first?.outcome else {
        Issue.record("the attempt failed")
        return
      }
      #expect(server.cancellations.value == 1)
    }
  }

  @Test func `the report of a call has the error that the events end with`() async throws {
    let server = StreamFixture(
      .init("data: {\"text\": 1}\n\n", isOpen: true), .init("data: more than ten\n\n", isOpen: true))
    let reports = Box<[CallReport]>([])
    let client = server.client([.onCallEnd { report in reports.update { $0.append(report) } }])
    await #expect(throws: NetworkError.self) { try await client.events(.get("a")).decode(Delta.self).all() }
    await #expect(throws: NetworkError.self) { try await client.events(.get("b")).limit(bytes: 10).all() }
    #expect(reports.value.map { ($0.error as? NetworkError)?.code } == [.decodingFailed, .lineTooLong])
  }

  @Test func `an error of the events cancels the body, and no event follows`() async throws {
    let server = StreamFixture(.init("data: one\n\ndata: more than ten\n\ndata: two\n\n", isOpen: true))
    let response = try await server.client().stream(.post("chat"))
    var events = response.events.limit(bytes: 10).makeAsyncIterator()
    #expect(try await events.next()?.data == "one")
    let error = await #expect(throws: NetworkError.self) { _ = try await events.next() }
    #expect(error?.code == .lineTooLong)
    #expect(server.cancellations.value == 1)
    #expect(try await events.next() == nil)
  }

  @Test func `events of JSON become values, and those without data are skipped`() async throws {
    let server = StreamFixture(
      .init("data: {\"text\":\"a\"}\n\nevent: ping\ndata\n\ndata: {\"text\":\ndata: \"b\"}\n\ndata: [DONE]\n\n"))
    let response = try await server.client().stream(.post("chat"))
    let deltas = response.events.until { $0.data == "[DONE]" }.decode(Delta.self)
    #expect(try await deltas.all() == [Delta(text: "a"), Delta(text: "b")])
  }

  @Test func `an event is decoded by its type`() async throws {
    let server = StreamFixture(.init("event: delta\ndata: {\"text\":\"a\"}\n\nevent: usage\ndata: {\"tokens\":7}\n\n"))
    var texts: [String] = []
    var tokens = 0
    for try await event in try await server.client().stream(.post("chat")).events {
      if event.type == "usage" { tokens = try event.decode([String: Int].self)["tokens"] ?? 0 }
      if event.type == "delta" { texts.append(try event.decode(Delta.self).text) }
    }
    #expect(texts == ["a"])
    #expect(tokens == 7)
  }

  @Test func `the error for an event that does not fit its type names the type, and hides secrets`() throws {
    let event = ServerSentEvent(type: "delta", data: #"{"text":1,"password":"canary"}"#)
    let error = try #require(#expect(throws: NetworkError.self) { try event.decode(Delta.self) })
    #expect(error.code == .decodingFailed)
    #expect(error.message.hasPrefix("event delta: Delta could not be decoded at text: "))
    #expect(!"\(error)".contains("canary"))
  }

  @Test func `the error for an event that does not fit has its number, and hides secrets`() async throws {
    let server = StreamFixture(
      .init("data: {\"text\":\"a\"}\n\ndata: {\"text\":1,\"password\":\"canary\"}\n\n", isOpen: true))
    let deltas = try await server.client().stream(.post("chat")).events.decode(Delta.self)
    let error = await #expect(throws: NetworkError.self) { try await deltas.all() }
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.hasPrefix("event 2: Delta") == true)
    #expect(error.map { "\($0)".contains("canary") } == false)
    #expect(server.cancellations.value == 1)
  }

  @Test func `an event that is too long ends the events with an error`() async throws {
    let server = StreamFixture(.init("data: 1\n\ndata: 12345\n\n", isOpen: true))
    let events = try await server.client().stream(.get("feed")).events.limit(bytes: 10)
    let error = await #expect(throws: NetworkError.self) { try await events.all() }
    #expect(error?.code == .lineTooLong)
    #expect(server.cancellations.value == 1)
  }

  @Test func `the wait for an event ends with the events`() async throws {
    let server = StreamFixture(.init("data: one\n\n", ": still there\n\n"))
    let events = try await server.client().stream(.get("feed")).events.idleTimeout(.seconds(30))
    var count = 0
    for try await _ in events { count += 1 }
    #expect(count == 1)
    #expect(server.clock.sleeperCount == 0)
  }

  @Test func `a timeout without an event ends the events, even if comments arrive`() async throws {
    let server = StreamFixture(.init("data: one\n\n", ": still there\n\n", isOpen: true))
    let events = try await server.client().stream(.get("feed")).events.idleTimeout(.seconds(30))
    let first = TestGate()
    let task = Task { for try await _ in events { first.arrive() } }
    // Before the first event the wait is that for it, which ends with the event.
    await first.waitForArrivals(1)
    await server.clock.waitForSleepers(1)
    server.clock.advance(by: .seconds(30))
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .timedOut)
    #expect(error?.message.contains("30") == true)
    // Held by the error that the stream ends with, the stream would hold itself.
    if case .stream? = error?.response?.body { Issue.record("the error holds the stream") }
    #expect(server.cancellations.value == 1)
  }

  @Test func `a request for events asks for their type, bypasses caches, and is sent once for every iteration`()
    async throws
  {
    let server = StreamFixture(.init("data: one\n\n"), .init("data: two\n\n"))
    let store = MemoryCacheStore()
    let events = server.client([.caching(store)]).events(.get("feed"))
    #expect(server.requests.value.isEmpty)
    #expect(try await events.all() == [ServerSentEvent(data: "one")])
    #expect(try await events.all() == [ServerSentEvent(data: "two")])
    #expect(server.requests.value.map { $0.headers["Accept"] } == ["text/event-stream", "text/event-stream"])
    #expect(server.requests.value.allSatisfy { $0.headers["Cache-Control"] == "no-store" })
    #expect(store.count == 0)
  }

  @Test func `a response of status 204 has no events`() async throws {
    let server = StreamFixture(StreamFixture.Reply().with(status: 204, headers: [:]))
    #expect(try await server.client().events(.get("feed"), reconnecting: .automatic).all().isEmpty)
  }

  @Test(arguments: [["Content-Type": "text/html"], [:]] as [HeaderFields])
  func `a response of another content type is an error, unless it is accepted`(headers: HeaderFields) async throws {
    let reply = StreamFixture.Reply("data: one\n\n").with(headers: headers)
    let server = StreamFixture(reply, reply)
    let error = await #expect(throws: NetworkError.self) { try await server.client().events(.get("feed")).all() }
    #expect(error?.code == .unexpectedContentType)
    #expect(try error?.response?.text == "data: one\n\n")
    let request = Request<NetworkResponse>.get("feed").with(\.acceptableContentTypes, [])
    #expect(try await server.client().events(request).all().count == 1)
  }

  @Test func `another content type is an error even if the body never ends`() async throws {
    let server = StreamFixture(StreamFixture.Reply("<html>", isOpen: true).with(headers: ["Content-Type": "text/html"]))
    let task = Task { try await server.client().events(.get("feed"), reconnecting: .automatic).all() }
    await server.clock.waitForSleepers(1)
    server.clock.advance(by: .seconds(1))
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .unexpectedContentType)
    #expect(error?.response?.isBodyCut == true)
    #expect(server.cancellations.value == 1)
    #expect(server.requests.value.count == 1)
  }

  @Test func `another content type is the error even if the body breaks off`() async throws {
    let reply = StreamFixture.Reply("<html>", error: .connectionLost).with(headers: ["Content-Type": "text/html"])
    let server = StreamFixture(reply)
    let error = await #expect(throws: NetworkError.self) { try await server.client().events(.get("feed")).all() }
    #expect(error?.code == .unexpectedContentType)
    #expect(try error?.response?.text == "<html>")
  }
}
