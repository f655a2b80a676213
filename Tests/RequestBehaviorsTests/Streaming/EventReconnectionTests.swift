import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Requests for events that are made again.
@Suite(.limited) struct EventReconnectionTests {
  /// Reads a number of events while the clock advances at each wait, and returns the waits too.
  private func read(
    _ count: Int, of server: StreamFixture, _ reconnection: EventReconnection = .init(random: { 1 }),
    _ behaviors: [any RequestBehavior] = [], request: Request<NetworkResponse> = .get("feed")
  ) async throws -> (events: [ServerSentEvent], waits: [Duration]) {
    let waits = Box<[Duration]>([])
    let client = server.client(behaviors).with { configuration in
      let clock = server.clock.requestClock
      configuration.clock = RequestClock(
        now: clock.now, date: clock.date, sleep: { duration in waits.update { $0.append(duration) } })
    }
    var events: [ServerSentEvent] = []
    for try await event in client.events(request, reconnecting: reconnection) {
      events.append(event)
      if events.count == count { break }
    }
    return (events, waits.value)
  }

  @Test func `a stream that ends or breaks off is followed by one that resumes after the latest id`() async throws {
    let server = StreamFixture(
      .init("id: 1\ndata: a\n\nid: 2\ndata: cut"), .init("retry: 500\ndata: b\n\nid\n\n", error: .connectionLost),
      .init("data: c\n\n"))
    let (events, waits) = try await read(3, of: server)
    #expect(events.map(\.data) == ["a", "b", "c"])
    #expect(events.map(\.id) == ["1", "1", ""])
    #expect(server.requests.value.map { $0.headers["Last-Event-ID"] } == [nil, "1", nil])
    #expect(waits == [.seconds(3), .milliseconds(500)])
    #expect(Set(server.requests.value.map { $0.call.id }).count == 3)
  }

  @Test(arguments: ["0", "499"])
  func `if the server names no valid wait, the next request is sent after half a second`(retry: String) async throws {
    let server = StreamFixture(.init("retry: \(retry)\ndata: a\n\n"), .init("data: b\n\n"))
    let (events, waits) = try await read(2, of: server)
    #expect(events.map(\.data) == ["a", "b"])
    #expect(waits == [.milliseconds(500)])
  }

  @Test func `the wait grows while streams bring no event`() async throws {
    let server = StreamFixture(
      .init("data: a\n\n"), .init(), .init(error: .connectionLost), .init("data: b\n\n"), .init("data: c\n\n"))
    let reconnection = EventReconnection(
      delay: .seconds(1), backoff: Backoff(base: .seconds(1), jitter: .none), random: { 1 })
    let (events, waits) = try await read(3, of: server, reconnection)
    #expect(events.map(\.data) == ["a", "b", "c"])
    #expect(waits == [.seconds(1), .seconds(2), .seconds(3), .seconds(1)])
  }

  @Test func `an id that no field can carry is not sent`() async throws {
    let server = StreamFixture(.init("id: a\u{1}\ndata: a\n\n"), .init("data: b\n\n"))
    let (events, _) = try await read(2, of: server)
    #expect(events.map(\.data) == ["a", "b"])
    #expect(server.requests.value.map { $0.headers["Last-Event-ID"] } == [nil, nil])
  }

  @Test(arguments: [("  7", "7"), ("7 \t", "7"), (" a b ", "a b"), ("   ", nil)] as [(String, String?)])
  func `an id is sent without its outer spaces, which no field can carry`(id: String, sent: String?) async throws {
    let server = StreamFixture(.init("id:\(id)\ndata: a\n\n"), .init("data: b\n\n"))
    let (events, _) = try await read(2, of: server)
    // One space after the colon is not part of the id.
    #expect(events.map(\.id) == Array(repeating: id.hasPrefix(" ") ? String(id.dropFirst()) : id, count: 2))
    #expect(server.requests.value.map { $0.headers["Last-Event-ID"] } == [nil, sent])
  }

  @Test func `a 204 ends the events`() async throws {
    let server = StreamFixture(.init("data: a\n\n"), StreamFixture.Reply().with(status: 204, headers: [:]))
    #expect(try await read(9, of: server).events.map(\.data) == ["a"])
  }

  @Test(arguments: [(200, ["Content-Type": "text/html"]), (503, [:]), (401, [:])] as [(Int, HeaderFields)])
  func `another content type and an unacceptable status end the events with an error`(
    status: Int, headers: HeaderFields
  ) async throws {
    let server = StreamFixture(.init("data: a\n\n"), StreamFixture.Reply("x").with(status: status, headers: headers))
    let error = await #expect(throws: NetworkError.self) { try await read(9, of: server) }
    #expect(error?.code == (status == 200 ? .unexpectedContentType : .unacceptableStatus))
    #expect(server.requests.value.count == 2)
  }

  @Test func `a first request that fails is not made again`() async throws {
    let server = StreamFixture()
    let error = await #expect(throws: NetworkError.self) { try await read(1, of: server) }
    #expect(error?.code == .cannotConnect)
    #expect(server.requests.value.count == 1)
  }

  @Test func `the limit of reconnections ends the events with the latest failure`() async throws {
    let server = StreamFixture(.init("data: a\n\n"))
    let error = await #expect(throws: NetworkError.self) {
      try await read(9, of: server, EventReconnection(limit: 2, random: { 0 }))
    }
    #expect(error?.code == .cannotConnect)
    #expect(server.requests.value.count == 3)
  }

  @Test func `a server that asks for too long a wait gets no further request`() async throws {
    let server = StreamFixture(.init("retry: 3600001\ndata: a\n\n"))
    #expect(try await read(9, of: server).events.map(\.data) == ["a"])
    #expect(server.requests.value.count == 1)
  }

  @Test func `a terminator ends the events for good`() async throws {
    let server = StreamFixture(.init("data: a\n\ndata: [DONE]\n\n"), .init("data: b\n\n"))
    let events = server.client().events(.get("feed"), reconnecting: .automatic).until { $0.data == "[DONE]" }
    #expect(try await events.all().map(\.data) == ["a"])
    #expect(server.requests.value.count == 1)
  }

  @Test func `a POST is not made again, with or without a rule`() async throws {
    let server = StreamFixture(.init("data: a\n\n"), .init("data: b\n\n", error: .connectionLost))
    let events = server.client().events(.post("chat"), reconnecting: .automatic)
    #expect(try await events.all().map(\.data) == ["a"])
    let error = await #expect(throws: NetworkError.self) { try await events.all() }
    #expect(error?.code == .connectionLost)
    #expect(server.requests.value.count == 2)
  }

  @Test func `the events of one user do not continue for another`() async throws {
    let server = StreamFixture(.init("data: a\n\n"), .init("data: b\n\n"), .init("data: c\n\n"))
    let user = Box("mona")
    let scope = UserBehavior(user: user, requests: server.requests)
    let error = await #expect(throws: NetworkError.self) { try await read(9, of: server, .init(limit: 1), [scope]) }
    #expect(error?.code == .signedOut)
    #expect(server.requests.value.count == 2)
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .badResponse])
  func `a missing token is waited for if the failure is temporary`(_ code: NetworkError.Code) async throws {
    let refusal = StreamFixture.Reply().with(status: 401, headers: [:])
    let server = StreamFixture(.init("data: a\n\n"), refusal, .init("data: b\n\n"))
    // The refresh has a clock that does not advance by itself, so that it does not take too long.
    let session = TokenSession(
      source: .refreshing { _, _ in throw NetworkError(code, "the token server fails") },
      clock: server.clock.requestClock)
    try await session.signIn(AccessToken("t1", refreshToken: "r1"))
    let reading = Task { try await read(2, of: server, .init(random: { 1 }), [.tokenAuth(session)]) }
    if code == .cannotConnect {
      #expect(try await reading.value.events.map(\.data) == ["a", "b"])
    } else {
      let error = await #expect(throws: NetworkError.self) { try await reading.value }
      #expect(error?.code == .tokenUnavailable)
    }
  }

  @Test func `shutting the client down ends the wait for another request`() async throws {
    let server = StreamFixture(.init("data: a\n\n"))
    let client = server.client()
    let task = Task { try await client.events(.get("feed"), reconnecting: .automatic).all() }
    await server.clock.waitForSleepers(1)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .clientShutDown)
  }

  @Test func `cancelling the task ends the wait for another request`() async throws {
    let server = StreamFixture(.init("data: a\n\n"))
    let client = server.client()
    let task = Task { try await client.events(.get("feed"), reconnecting: .automatic).all() }
    await server.clock.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  /// Another user from the third request on.
  private struct UserBehavior: RequestBehavior {
    let user: Box<String>
    let requests: Box<[NetworkRequest]>

    func scope(for request: NetworkRequest) async -> String? {
      if requests.value.count == 2 { user.value = "lisa" }
      return user.value
    }
  }

  @Test func `the id of the request is sent until the server sends another one, or an empty one`() async throws {
    let server = StreamFixture(.init(), .init("id: 5\ndata: a\n\n"), .init("id\ndata: b\n\n"), .init("data: c\n\n"))
    let request = Request<NetworkResponse>.get("feed").with(header: "Last-Event-ID", "41")
    _ = try await read(3, of: server, request: request)
    #expect(server.requests.value.map { $0.headers["Last-Event-ID"] } == ["41", "41", "5", nil])
  }
}
