import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A recorder beside the other parts of a client: what they do to a call must show, once.
@Suite(.limited) struct CallRecorderEdgeTests {
  private let recorder = CallRecorder()
  private let mock = MockTransport(baseURL: baseURL)

  private func client(_ behaviors: [any RequestBehavior] = [], clock: RequestClock = .system) -> NetworkClient {
    NetworkClient(mock, clock, [.recording(recorder)] + behaviors)
  }

  private var shown: String {
    let recording = recorder.recording
    return String(decoding: recording.har() + recording.waterfall(), as: UTF8.self)
  }

  @Test func `a stream that is dropped unread ends its call, which is let go`() async throws {
    let client = NetworkClient(Streaming(), [.recording(recorder)])
    weak var call: Call?
    do {
      let response = try await client.stream(.get("feed"))
      call = response.request.call
      #expect(recorder.recording.calls.first?.outcome == .underWay)
    }
    while recorder.recording.calls.first?.endedAt == nil { await Task.yield() }
    #expect(recorder.recording.calls.map(\.outcome) == [.cancelled])
    #expect(recorder.recording.calls.first?.sends.map(\.outcome) == [.cancelled])
    while call != nil { await Task.yield() }
    #expect(call == nil)
  }

  @Test func `a recorder that two behaviors tell has each call and send once`() async throws {
    mock.on(.get, "x").respond(503).respond(text: "fine")
    let twice = RecordingBehavior(recorder, name: "second")
    let client = client([twice, .retry()], clock: .immediate)
    #expect(try await client.send(Request<String>.get("x")) == "fine")
    let calls = recorder.recording.calls
    #expect(calls.count == 1)
    #expect(calls.first?.sends.map(\.number) == [1, 2])
    #expect(calls.first?.decisions.count { $0.kind == .retry } == 1)
  }

  @Test func `a call that is cancelled at any place is recorded once`() async throws {
    let places: [(name: String, behaviors: [any RequestBehavior])] = [
      ("gate", [.gate(Gate(isOpen: false))]), ("send", []), ("retry", [.retry()]),
    ]
    for place in places {
      let recorder = CallRecorder()
      let clock = ManualClock()
      let mock = MockTransport(baseURL: baseURL)
      mock.on(.get, "x").respond(503).delayed(by: .seconds(1)).times(9)
      let client = NetworkClient(mock, clock.requestClock, [.recording(recorder)] + place.behaviors)
      let call = Task { try await client.send(.get("x")) }
      while recorder.recording.calls.isEmpty { await Task.yield() }
      if place.name != "gate" { await clock.waitForSleepers(1) }
      if place.name == "retry" {
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
      }
      call.cancel()
      await #expect(throws: CancellationError.self, "\(place.name)") { try await call.value }
      let recorded = try #require(recorder.recording.calls.first)
      #expect(recorder.recording.calls.count == 1, "\(place.name)")
      #expect(recorded.outcome == .cancelled, "\(place.name)")
      #expect(recorded.endedAt != nil, "\(place.name)")
      let isUnderWay = recorded.sends.contains { $0.outcome == .underWay }
      #expect(!isUnderWay, "\(place.name)")
    }
  }

  @Test func `calls that the client's shutdown ends are recorded as ended`() async throws {
    mock.on(.get, "*").respond(text: "fine").delayed(by: .seconds(60))
    let clock = ManualClock()
    let client = client(clock: clock.requestClock)
    let calls = (0..<3).map { number in Task { try await client.send(Request<String>.get("\(number)")) } }
    await clock.waitForSleepers(3)
    await client.shutdown()
    for call in calls { await #expect(throws: (any Error).self) { try await call.value } }
    let recorded = recorder.recording.calls
    #expect(recorded.count == 3)
    let open = recorded.count { $0.endedAt == nil }
    #expect(open == 0)
  }

  @Test func `a body that can be sent once is sent whole`() async throws {
    let recorder = CallRecorder(bodies: .upTo(10))
    let server = try LoopbackServer { .text($0.text) }
    let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    for text in ["first ", "second"] { continuation.yield(Data(text.utf8)) }
    continuation.finish()
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.recording(recorder)])
    let request = Request<String>.post("up", body: .oneShot(ByteStream(stream), contentType: "text/plain"))
    #expect(try await client.send(request) == "first second")
    let send = try #require(recorder.recording.calls.first?.sends.first)
    #expect(send.requestBody == nil)
  }

  @Test func `a redirect to another origin is recorded with the fields that it sent`() async throws {
    mock.on(.get, "x").respond(302, headers: ["Location": "https://cdn.example.net/y"])
    mock.on(.get, "https://cdn.example.net/y").respond(text: "fine")
    _ = try await client([.headers(["Accept": "text/plain"])]).send(
      Request<String>.get("x").with(header: "X-API-Key", "c4nary-key"))
    let sends = try #require(recorder.recording.calls.first?.sends)
    #expect(sends.map { $0.requestHeaders.contains("X-API-Key") } == [true, false])
    #expect(sends.map(\.url) == ["https://api.example.com/v1/x", "https://cdn.example.net/y"])
    #expect(!shown.contains("c4nary"))
  }

  private func signedIn() async throws -> TokenSession {
    let session = TokenSession(
      source: .closure { client in AccessToken(try await client.send(Request<String>.post("token"))) })
    try await session.signIn(AccessToken("first-token"))
    return session
  }

  @Test func `a sign-out removes the calls of its user, and keeps the others`() async throws {
    mock.on(.get, "*").respond(text: "fine")
    mock.on(.post, "token").respond(text: "next-token")
    let session = try await signedIn()
    let client = client([.tokenAuth(session)])
    _ = try await client.send(Request<String>.get("mine"))
    _ = try await client.send(Request<String>.get("public").with(\.authentication, .none))
    #expect(recorder.recording.calls.map(\.endpoint) == ["mine", "public"])
    try await session.signOut()
    #expect(recorder.recording.calls.map(\.endpoint) == ["public"])
    try await session.signIn(AccessToken("second-token"))
    _ = try await client.send(Request<String>.get("theirs"))
    #expect(recorder.recording.calls.map(\.endpoint) == ["public", "theirs"])
    #expect(recorder.recording.droppedCalls == 0)
    await client.reset()
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `a sign-out removes calls under way and calls of released clients`() async throws {
    let gate = TestGate()
    mock.on(.get, "slow").respond { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    mock.on(.get, "variant").respond(text: "fine")
    let session = try await signedIn()
    let client = NetworkClient(mock, .system, [.tokenAuth(session)])
    _ = try await client.with { $0.behaviors.append(.recording(recorder)) }.send(Request<String>.get("variant"))
    let slow = client.with { $0.behaviors.append(.recording(recorder)) }
    let call = Task { try await slow.send(.get("slow")) }
    await gate.waitForArrivals(1)
    #expect(recorder.recording.calls.map(\.endpoint) == ["variant", "slow"])
    try await session.signOut()
    #expect(recorder.recording.calls.isEmpty)
    gate.open()
    _ = try? await call.value
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `a sign-out removes a token request with the call that needed it`() async throws {
    mock.on(.get, "me").respond(text: "ann")
    mock.on(.post, "token").respond(text: "first-token")
    let session = TokenSession(
      source: .closure { client in AccessToken(try await client.send(Request<String>.post("token"))) })
    _ = try await client([.tokenAuth(session)]).send(Request<String>.get("me"))
    #expect(recorder.recording.calls.count == 2)
    try await session.signOut()
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a sign-out removes a token request whose call a limit has dropped`(isShared: Bool) async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: 1))
    mock.on(.get, "me").respond(401).respond(text: "ann")
    mock.on(.post, "token").respond(text: "second-token")
    let session = try await signedIn()
    var behaviors: [any RequestBehavior] = [.recording(recorder), .tokenAuth(session)]
    if isShared { behaviors.append(.coalescing()) }
    _ = try await NetworkClient(mock, .system, behaviors).send(Request<String>.get("me"))
    #expect(recorder.recording.calls.map(\.purpose) == [.prerequisite])
    try await session.signOut()
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `a sign-out removes a token request whose call a limit has dropped after calls without a user`()
    async throws
  {
    let recorder = CallRecorder(limits: RecordingLimits(calls: 3))
    mock.on(.get, "me").respond(401).respond(text: "ann")
    mock.on(.get, "news").respond(text: "none")
    mock.on(.post, "token").respond(text: "second-token")
    let session = try await signedIn()
    let client = NetworkClient(mock, .system, [.recording(recorder), .tokenAuth(session)])
    let news = Request<String>.get("news").with(\.authentication, .none)
    for _ in 1...2 { _ = try await client.send(news) }
    _ = try await client.send(Request<String>.get("me"))
    for _ in 1...2 { _ = try await client.send(news) }
    #expect(recorder.recording.calls.map(\.purpose) == [.prerequisite, .request, .request])
    try await session.signOut()
    #expect(recorder.recording.calls.map(\.purpose) == [.request, .request])
  }

  @Test func `a sign-out removes a shared call of a user who signed in after it began`() async throws {
    mock.on(.get, "me").respond(text: "ann")
    let session = TokenSession(source: .signInOnly)
    let signingIn = ClosureBehavior("signing in", modify: { _ in try await session.signIn(AccessToken("ann")) })
    _ = try await client([.coalescing(), signingIn, .tokenAuth(session)]).send(Request<String>.get("me"))
    #expect(recorder.recording.calls.count == 1)
    try await session.signOut()
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `a shared call under way of a user who signed in meanwhile is hidden after the sign-out`() async throws {
    mock.on(.get, "me").respond(text: "ann")
    let session = TokenSession(source: .signInOnly)
    let gate = TestGate()
    let holding = ClosureBehavior("holding") { request, next in
      try await session.signIn(AccessToken("ann"))
      let response = try await next(request)
      await gate.pass()
      return response
    }
    let client = client([.coalescing(), holding, .tokenAuth(session)])
    let call = Task { try await client.send(Request<String>.get("me")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    #expect(recorder.recording.calls.isEmpty)
    gate.open()
    await #expect(throws: NetworkError.self) { try await call.value }
  }

  @Test func `a secret of a user who signed out is hidden in the calls that stay`() async throws {
    let recorder = CallRecorder(bodies: .upTo(1_000))
    mock.on(.post, "login").respond(text: "first-token")
    mock.on(.get, "mine").respond(text: "fine")
    let session = TokenSession(source: .signInOnly)
    let client = NetworkClient(mock, .system, [.recording(recorder), .tokenAuth(session)])
    let login = Request<String>.post("login").with(\.authentication, .none)
    try await session.signIn(AccessToken(try await client.send(login)))
    _ = try await client.send(Request<String>.get("mine"))
    try await session.signOut()
    #expect(recorder.recording.calls.map(\.endpoint) == ["login"])
    #expect(recorder.recording.calls.first?.sends.first?.responseBody == Redactor.placeholder)
  }

  @Test func `the recording of an error that ended the session contains its token request`() async throws {
    mock.on(.get, "x").respond(401)
    mock.on(.post, "token").respond(text: "next-token")
    let session = try await signedIn()
    let error = await #expect(throws: NetworkError.self) {
      try await client([.tokenAuth(session)]).send(.get("x"))
    }
    #expect(try await !session.isSignedIn())
    #expect(try #require(error?.recording()).calls.count == 2)
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `an error of a user who signed out has its own recording, by the rules of the recorder`() async throws {
    var redactor = Redactor.standard
    redactor.sensitivePointers.insert("/iban")
    let recorder = CallRecorder(bodies: .upTo(1_000), redactor: redactor)
    mock.on(.get, "x").respond(500, jsonText: #"{"iban": "c4nary-number"}"#)
    let session = try await signedIn()
    let client = NetworkClient(mock, .system, [.recording(recorder), .tokenAuth(session)])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    try await session.signOut()
    let recording = try #require(error?.recording())
    #expect(recording.calls.map(\.sends.count) == [1])
    #expect(!String(decoding: recording.har(), as: UTF8.self).contains("c4nary"))
  }

  @Test func `an error of a user who signed out has no token request of the recorder, also of a released client`()
    async throws
  {
    mock.on(.get, "x").respond(500)
    mock.on(.post, "token").respond(text: "first-token")
    let session = TokenSession(
      source: .closure { client in AccessToken(try await client.send(Request<String>.post("token"))) })
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(mock, .system, [.recording(recorder), .tokenAuth(session)]).send(.get("x"))
    }
    #expect(error?.recording()?.calls.count == 2)
    try await session.signOut()
    #expect(error?.recording()?.calls.count == 1)
  }

  @Test func `a secret that a shared flight learns is hidden, also while the flight hangs`() async throws {
    let gate = TestGate()
    mock.on(.get, "x").respond { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let learning = ClosureBehavior("learning", order: .authentication) { request, next in
      request.call.addSecret("c4nary-of-the-flight")
      request.call.record("asks with c4nary-of-the-flight", from: "Learning")
      return try await next(request)
    }
    let client = client([.coalescing(), learning])
    let calls = (0..<2).map { _ in Task { try await client.send(.get("x")) } }
    await gate.waitForArrivals(1)
    #expect(shown.contains("asks with"))
    #expect(!shown.contains("c4nary"))
    gate.open()
    for call in calls { try await call.value }
    #expect(!shown.contains("c4nary"))
  }

  @Test func `a flight whose first caller has left is recorded to its end`() async throws {
    let gate = TestGate()
    mock.on(.get, "x").respond { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("fine".utf8)))
    }
    let client = client([.coalescing()])
    let first = Task { try await client.send(Request<String>.get("x")) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(Request<String>.get("x")) }
    while recorder.recording.calls.flatMap(\.decisions).allSatisfy({ $0.kind != .coalescing }) { await Task.yield() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    #expect(try await second.value == "fine")
    let calls = recorder.recording.calls
    #expect(calls.map(\.outcome) == [.cancelled, .response(statusCode: 200)])
    #expect(calls.map(\.sends.count) == [1, 0])
    #expect(calls.first?.sends.first?.outcome == .response(statusCode: 200, bytes: 4))
  }

  @Test func `ten thousand concurrent calls are recorded correctly, as far as they are kept`() async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: 100, bytes: .max))
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["ETag": request.url.lastPathComponent])
    }
    let client = NetworkClient(transport, [.recording(recorder)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<10_000 { group.addTask { try await client.send(.get("\(number)")) } }
      await gate.waitForArrivals(5_000)
      gate.open()
      try await group.waitForAll()
    }
    let recording = recorder.recording
    #expect(recording.calls.count == 100)
    #expect(recording.droppedCalls == 9_900)
    #expect(recording.calls.map(\.number) == recording.calls.map(\.number).sorted())
    let wrong = recording.calls.filter { call in
      call.sends.contains { !call.url.hasSuffix("/" + ($0.responseHeaders["ETag"] ?? "-")) }
    }
    #expect(wrong.isEmpty)
  }
}

/// A transport that streams a chunk and does not keep requests.
private struct Streaming: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    NetworkResponse(request: request, statusCode: 200, body: .stream(ByteStream(chunks: [Data("one".utf8)])))
  }

  func shutdown() async {}
}
