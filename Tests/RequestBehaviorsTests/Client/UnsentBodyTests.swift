import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A one-shot body that is unread at the end of its call is cancelled, so that its producer can stop.
@Suite(.limited) struct UnsentBodyTests {
  private let cancelled = Box(0)

  private var body: RequestBody {
    .oneShot(ByteStream(NoChunks(), onCancel: { [cancelled] in cancelled.update { $0 += 1 } }))
  }

  private var upload: Request<Void> { .post("x", body: .body(body)) }

  @Test(arguments: ["headers", "modify"])
  func `a hook that throws cancels the body`(hook: String) async {
    let throwing = ClosureBehavior(
      "throwing",
      headers: { _ in
        if hook == "headers" { throw Failure("no") }
        return [:]
      },
      modify: { _ in if hook == "modify" { throw Failure("no") } })
    let client = NetworkClient(ClosureTransport(), [throwing])
    await #expect(throws: Failure.self) { try await client.send(upload) }
    #expect(cancelled.value == 1)
  }

  @Test func `a response without sending cancels the body`() async throws {
    let short = ClosureBehavior("short") { request, _ in NetworkResponse(request: request, statusCode: 200) }
    try await NetworkClient(ClosureTransport(), [short]).send(upload)
    #expect(cancelled.value == 1)
  }

  @Test func `a body that a hook replaces is cancelled`() async throws {
    let replacing = ClosureBehavior("replacing", modify: { $0.body = .data(Data("other".utf8)) })
    try await NetworkClient(ClosureTransport(), [replacing]).send(upload)
    #expect(cancelled.value == 1)
  }

  @Test func `a body that a hook sets before it throws is cancelled`() async {
    let body = body
    let throwing = ClosureBehavior(
      "throwing",
      modify: {
        $0.body = body
        throw Failure("no")
      })
    await #expect(throws: Failure.self) { try await NetworkClient(ClosureTransport(), [throwing]).send(.post("x")) }
    #expect(cancelled.value == 1)
  }

  @Test func `a body that an intercept sets and that is not sent is cancelled`() async {
    let body = body
    let replacing = ClosureBehavior("replacing", order: .retry) { request, next in
      var changed = request
      changed.body = body
      return try await next(changed)
    }
    let throwing = ClosureBehavior("throwing", modify: { _ in throw Failure("no") })
    let client = NetworkClient(ClosureTransport(), [replacing, throwing])
    await #expect(throws: Failure.self) { try await client.send(.post("x")) }
    #expect(cancelled.value == 1)
  }

  @Test func `a download to a place that is not free cancels the body`() async throws {
    let client = NetworkClient(ClosureTransport())
    let folder = URL.temporaryDirectory.appending(path: "unsent-\(UUID().uuidString)")
    let request = Request<NetworkResponse>.post("x", body: .body(body))
    await #expect(throws: (any Error).self) { try await client.download(request, to: folder.appending(path: "file")) }
    #expect(cancelled.value == 1)
  }

  @Test func `a request that cannot be built cancels the body`() async {
    let client = NetworkClient(ClosureTransport())
    await #expect(throws: NetworkError.self) {
      try await client.send(.post("../../../x", body: .body(body)))
    }
    #expect(cancelled.value == 1)
  }

  @Test func `a client that was shut down cancels the body`() async {
    let client = NetworkClient(ClosureTransport())
    await client.shutdown()
    await #expect(throws: NetworkError.self) { try await client.send(upload) }
    #expect(cancelled.value == 1)
  }

  @Test func `a cancelled body cannot be sent any more`() async throws {
    let body = body
    body.cancel()
    #expect(!body.isReplayable)
  }

  @Test func `the end of a body that the transport reads is left to the transport`() async throws {
    let transport = ClosureTransport { request in
      if case .oneShot(let stream)? = request.body?.content { _ = try await stream.take().collect(upTo: 1) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    try await NetworkClient(transport).send(upload)
    #expect(cancelled.value == 0)
  }

  @Test(arguments: ["fails", "sends"])
  func `of two calls at once with the same body, the first that reads it sends all of it`(second: String) async throws {
    let gate = TestGate()
    let passing = ClosureBehavior("passing") { request, next in try await next(request) }
    let holding = ClosureBehavior("holding") { request, next in
      if gate.arrivalCount == 0 {
        await gate.pass()
      } else if second == "fails" {
        throw Failure("no")
      }
      return try await next(request)
    }
    let bodies = Box<[Data]>([])
    let transport = ClosureTransport { request in
      let data = try await request.bodyData()
      bodies.update { $0.append(data) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [passing, holding])
    let upload = Request<Void>.post("x", body: .oneShot(ByteStream(chunks: [Data("x".utf8)])))
    let held = Task { try await client.send(upload) }
    await gate.waitForArrivals(1)
    if second == "fails" {
      await #expect(throws: Failure.self) { try await client.send(upload) }
      gate.open()
      try await held.value
    } else {
      try await client.send(upload)
      gate.open()
      let error = await #expect(throws: NetworkError.self) { try await held.value }
      #expect(error?.code == .bodyConsumed)
    }
    #expect(bodies.value == [Data("x".utf8)])
  }

  @Test(arguments: ["fails", "sends"])
  func `of two calls at once with the same form, the first that reads a stream of it sends the form`(
    second: String
  ) async throws {
    let gate = TestGate()
    let failing = ClosureBehavior("failing", modify: { _ in if gate.arrivalCount > 0 { throw Failure("no") } })
    // The first call is held before it reads, or while it reads the first of two streams.
    let isHeldBefore = second == "fails"
    let bodies = Box<[String]>([])
    let transport = ClosureTransport { request in
      guard case .oneShot(let stream)? = request.body?.content else { throw Failure("no stream") }
      if isHeldBefore { await gate.pass() }
      var data = Data()
      for try await chunk in try stream.take() {
        data += chunk
        if !isHeldBefore, chunk == Data("first".utf8) { await gate.pass() }
      }
      bodies.update { $0.append(String(decoding: data, as: UTF8.self)) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, isHeldBefore ? [failing] : [])
    let streams = ["first", "second"].map { RequestBody.oneShot(ByteStream(chunks: [Data($0.utf8)])) }
    let form = RequestContent.multipart([.part("a", .body(streams[0])), .part("b", .body(streams[1]))])
    let held = Task { try await client.send(.post("x", body: form)) }
    await gate.waitForArrivals(1)
    await #expect(throws: (any Error).self) { try await client.send(.post("x", body: form)) }
    gate.open()
    try await held.value
    #expect(bodies.value.count == 1)
    #expect(bodies.value.first?.contains("second") == true)
  }

  @Test(arguments: ["a hook throws", "the client was shut down"])
  func `a form that is not sent cancels its streams`(because reason: String) async {
    let throwing = ClosureBehavior("throwing", modify: { _ in throw Failure("no") })
    let client = NetworkClient(ClosureTransport(), [throwing])
    if reason == "the client was shut down" { await client.shutdown() }
    let form = RequestContent.multipart([.field("a", "1"), .part("b", .multipart([.part("c", .body(body))]))])
    await #expect(throws: (any Error).self) { try await client.send(.post("x", body: form)) }
    #expect(cancelled.value == 1)
  }

  @Test func `a body that was taken and never read is cancelled at the end of the call, not before`() async throws {
    let seen = Box<[Int]>([])
    let transport = ClosureTransport { [cancelled] request in
      guard case .oneShot(let stream)? = request.body?.content else { throw Failure("no stream") }
      let taken = try stream.take()
      taken.cancel()
      seen.update { $0.append(cancelled.value) }
      #expect(request.body?.isReplayable == true)
      return NetworkResponse(request: request, statusCode: 200)
    }
    try await NetworkClient(transport).send(upload)
    #expect(seen.value == [0])
    #expect(cancelled.value == 1)
  }
}

/// A stream of no chunks.
private struct NoChunks: AsyncSequence, Sendable {
  struct Iterator: AsyncIteratorProtocol {
    mutating func next() async -> Data? { nil }
  }

  func makeAsyncIterator() -> Iterator { Iterator() }
}
