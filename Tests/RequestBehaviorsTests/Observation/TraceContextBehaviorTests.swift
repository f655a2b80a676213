import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct TraceContextBehaviorTests {
  private let transport = ClosureTransport()
  private let incoming = TraceContext(
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "rojo=1")

  @Test func `a request is a child of the task's trace`() async throws {
    let client = NetworkClient(transport, [TraceContextBehavior(random: { 0xA })])
    try await TraceContext.$current.withValue(incoming) { try await client.send(.get("x")) }
    let sent = try #require(transport.sent.first?.headers)
    #expect(sent["traceparent"] == "00-0af7651916cd43dd8448eb211c80319c-000000000000000a-01")
    #expect(sent["tracestate"] == "rojo=1")
  }

  @Test func `without a trace either a new one is started, or no field is sent`() async throws {
    try await NetworkClient(transport, [.traceContext()]).send(.get("x"))
    let parent = try #require(transport.sent.first?.headers["traceparent"])
    #expect(TraceContext(traceparent: parent) != nil)
    #expect(transport.sent.first?.headers.contains("tracestate") == false)
    try await NetworkClient(transport, [.traceContext(startsTraces: false)]).send(.get("x"))
    #expect(transport.sent.last?.headers.contains("traceparent") == false)
  }

  @Test func `other origins do not get the trace, and the caller's own field is unchanged`() async throws {
    let incoming = incoming
    let client = NetworkClient(transport, [TraceContextBehavior(context: { incoming })])
    try await client.send(.get(url: #require(URL(string: "https://elsewhere.example/x"))))
    #expect(transport.sent.last?.headers.contains("traceparent") == false)
    try await client.send(.get("x").with(header: "Traceparent", "mine"))
    #expect(transport.sent.last?.headers["traceparent"] == "mine")
    #expect(transport.sent.last?.headers.contains("tracestate") == false)
  }

  @Test func `calls at the same time have different traces and spans`() async throws {
    let client = NetworkClient(transport, [.traceContext()])
    try await withThrowingTaskGroup { group in
      for _ in 0..<500 { group.addTask { try await client.send(.get("x")) } }
      try await group.waitForAll()
    }
    let contexts = contexts().compactMap(\.self)
    #expect(Set(contexts.map(\.traceID)).count == 500)
    #expect(Set(contexts.map(\.parentID)).count == 500)
  }

  private func contexts() -> [TraceContext?] {
    transport.sent.map { $0.headers["traceparent"].flatMap { TraceContext(traceparent: $0) } }
  }

  private let twice = ClosureBehavior("twice", order: .retry) { request, next in
    _ = try await next(request)
    return try await next(request)
  }

  @Test func `every send of a call has a span of its own in one trace`() async throws {
    try await NetworkClient(transport, [.traceContext(), twice]).send(.get("x"))
    let contexts = contexts().compactMap(\.self)
    #expect(contexts.count == 2)
    #expect(Set(contexts.map(\.traceID)).count == 1)
    #expect(Set(contexts.map(\.parentID)).count == 2)
  }

  @Test func `a request that is made from a sent one gets its own span, and the caller's own span stays`() async throws
  {
    let resending = ClosureBehavior("resending", order: .retry) { request, next in
      try await next(try await next(request).request)
    }
    let client = NetworkClient(transport, [.traceContext(), resending])
    try await client.send(.get("x"))
    let contexts = contexts().compactMap(\.self)
    #expect(Set(contexts.map(\.traceID)).count == 1)
    #expect(Set(contexts.map(\.parentID)).count == 2)
    let own = try #require(incoming)
    try await client.send(.get("x").with(header: "traceparent", own.traceparent))
    #expect(transport.sent.dropFirst(2).map { $0.headers["traceparent"] } == [own.traceparent, own.traceparent])
  }

  @Test func `a prerequisite belongs to the trace of its call`() async throws {
    let needy = ClosureBehavior("needy", order: .authentication) { request, next in
      let client = next.client()
      // As a refresh that calls share: a task without the values of this one.
      try await Task.detached { try await client.send(.get("token")) }.value
      return try await next(request)
    }
    let client = NetworkClient(transport, [.traceContext(), twice, needy])
    try await client.send(.get("x"))
    #expect(transport.sent.map(\.endpoint) == ["token", "x", "token", "x"])
    let contexts = contexts().compactMap(\.self)
    #expect(contexts.count == 4)
    #expect(Set(contexts.map(\.traceID)).count == 1)
    #expect(Set(contexts.map(\.parentID)).count == 4)
  }

  @Test func `a prerequisite keeps a field that was copied from a send of the call`() async throws {
    let transport = ClosureTransport()
    let asking = ClosureBehavior("asking", order: .retry) { request, next in
      let response = try await next(request)
      var copied = HeaderFields()
      copied["traceparent"] = response.request.headers["traceparent"]
      try await next.client().send(Request<Void>.get("first", headers: copied))
      return response
    }
    try await NetworkClient(transport, [.traceContext(), asking]).send(.get("x"))
    let fields = transport.sent.compactMap { $0.headers["traceparent"] }
    #expect(fields.count == 2)
    #expect(Set(fields).count == 1)
  }

  @Test func `a token request belongs to the trace of the call that waits for the token`() async throws {
    let server = ClosureTransport { request in
      guard request.url.lastPathComponent == "token" else { return NetworkResponse(request: request, statusCode: 204) }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"access_token":"abc","expires_in":3600}"#.utf8)))
    }
    let endpoint = TokenEndpoint("token", clientID: "app", clientSecret: "secret")
    let client = NetworkClient(
      server, [.traceContext(), .tokenAuth(TokenSession(source: .clientCredentials(endpoint)))])
    try await TraceContext.$current.withValue(incoming) { try await client.send(.get("x")) }
    let traces = server.sent.map { $0.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }?.traceID }
    #expect(traces == [incoming?.traceID, incoming?.traceID])
  }

  @Test func `log records have the trace, and the records of sends have their span`() async throws {
    let records = Box<[LogRecord]>([])
    let sink = ClosureLogSink { record in records.update { $0.append(record) } }
    let client = NetworkClient(transport, [.logging(sink, level: .debug), .traceContext(), twice])
    try await client.send(.get("x"))
    let contexts = contexts().compactMap(\.self)
    #expect(records.value.count == 6)
    for record in records.value {
      let trace = try #require(contexts.first?.traceID)
      #expect(record.traceID == trace)
      #expect(record.line.contains("trace \(trace)"))
      #expect(record.json.contains("\"trace_id\":\"\(trace)\""))
    }
    let spans = contexts.map(\.parentID)
    #expect(records.value.map(\.spanID) == [nil, spans[0], spans[0], spans[1], spans[1], nil])
    #expect(records.value[1].json.contains("\"span_id\":\"\(spans[0])\""))
  }

  @Test func `a call reports its trace, even if the server does not get it`() async throws {
    let traces = Box<[TraceContext?]>([])
    let note = ClosureBehavior("note", beforeSend: { request in traces.update { $0.append(request.call.trace) } })
    let client = NetworkClient(transport, [.traceContext(), note])
    try await TraceContext.$current.withValue(incoming) {
      try await client.send(.get(url: #require(URL(string: "https://elsewhere.example/x"))))
    }
    #expect(traces.value == [incoming])
    #expect(contexts() == [nil])
    try await NetworkClient(transport, [note]).send(.get("x"))
    #expect(traces.value == [incoming, nil])
  }
}
