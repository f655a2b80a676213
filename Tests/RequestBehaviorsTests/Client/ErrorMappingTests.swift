import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Every error that leaves a client is replaced, once, wherever it arises.
@Suite(.limited) struct ErrorMappingTests {
  /// The app's error; one that was mapped twice has another one as its cause.
  private struct AppError: Error {
    let cause: any Error

    /// The code of the error that was replaced; `nil` if it was replaced twice.
    var code: NetworkError.Code? { (cause as? NetworkError)?.code }
  }

  private struct Number: Codable, Sendable { let number: Int }
  private final class Model: Decodable { let number: Int }

  private let count = Box(0)
  private let reports = Box<[CallReport]>([])

  private var mapError: MapErrorBehavior {
    MapErrorBehavior { [count] error in
      count.update { $0 += 1 }
      // It reads the response of the error, as apps do; that must not lead back here.
      _ = try? (error as? NetworkError)?.decode(Number.self)
      return AppError(cause: error)
    }
  }

  private var behaviors: [any RequestBehavior] {
    [mapError, .onCallEnd { [reports] report in reports.update { $0.append(report) } }]
  }

  /// Returns the code of the error that work throws, which must have been mapped once.
  private func code(_ work: () async throws -> Void) async -> NetworkError.Code? {
    let before = count.value
    let error = await #expect(throws: AppError.self) { try await work() }
    #expect(count.value == before + 1)
    return error?.code
  }

  private func client(_ status: Int = 200, _ body: String = "", _ type: String = "application/json") -> NetworkClient {
    NetworkClient(ClosureTransport(status, body, headers: ["Content-Type": type]), behaviors)
  }

  @Test func `errors of building and encoding are mapped`() async {
    let client = client()
    #expect(await code { try await client.send(.get(url: URL(string: "ftp://x")!)) } == .invalidURL)
    #expect(await code { try await client.send(.post("x", body: .json(Double.nan))) } == .encodingFailed)
    #expect(await code { _ = try await client.stream(.get(url: URL(string: "ftp://x")!)) } == .invalidURL)
  }

  @Test func `errors of sending and of the status are mapped`() async {
    let failing = NetworkClient(ClosureTransport { _ in throw NetworkError(.cannotConnect, "no") }, behaviors)
    #expect(await code { try await failing.send(.get("x")) } == .cannotConnect)
    #expect(await code { let _: Number = try await failing.send(.get("x")) } == .cannotConnect)
    #expect(await code { let _: NetworkResponse = try await failing.send(.get("x")) } == .cannotConnect)
    #expect(await code { try await client(500).send(.get("x")) } == .unacceptableStatus)
  }

  @Test func `errors of decoding are mapped, also of values that are not Sendable`() async {
    let client = client(200, "{}")
    #expect(await code { let _: Number = try await client.send(.get("x")) } == .decodingFailed)
    #expect(await code { let _: Model = try await client.send(.get("x")) } == .decodingFailed)
    #expect(await code { _ = try await client.response(for: Request<Number>.get("x")) } == .decodingFailed)
    let response = try? await client.send(Request<NetworkResponse>.get("x"))
    #expect(await code { _ = try response?.decode(Number.self) } == .decodingFailed)
    #expect(await code { _ = try response?.decode(Number.self, at: "a.b") } == .decodingFailed)
  }

  @Test func `an error of a list that names a behavior twice is mapped, once`() async {
    let client = NetworkClient(ClosureTransport(), [mapError, .retry(), .retry()])
    #expect(await code { try await client.send(.get("x")) } == .invalidBehavior)
    let twice = NetworkClient(ClosureTransport(), [mapError, mapError])
    #expect(await code { try await twice.send(.get("x")) } == .invalidBehavior)
    let request = Request<Void>.get("x").with(.retry()).with(.retry())
    #expect(await code { try await self.client().send(request) } == .invalidBehavior)
  }

  @Test func `a request's own mapping replaces the client's, and can be left out`() async {
    struct Own: Error {}
    let client = client(500)
    await #expect(throws: Own.self) { try await client.send(.get("x").with(.mapError { _ in Own() })) }
    await #expect(throws: NetworkError.self) { try await client.send(.get("x").without(MapErrorBehavior.self)) }
    #expect(count.value == 0)
  }

  @Test func `errors in the middle of a body are mapped, however it is read`() async throws {
    func response() async throws -> NetworkResponse {
      let server = StreamFixture(
        StreamFixture.Reply("data: 1\n\nx", error: .connectionLost).with(headers: ["Content-Type": "text/plain"]))
      return try await server.client(behaviors).stream(.get("x"))
    }
    let readers: [(NetworkResponse) async throws -> Void] = [
      { _ = try await $0.bytes.all() }, { _ = try await $0.lines.all() }, { _ = try await $0.events.all() },
      { _ = try await $0.events.decode(Int.self).all() }, { _ = try await $0.buffered() },
      { if case .stream(let stream) = $0.body { _ = try await stream.collect(upTo: 1_000) } },
      { _ = try await $0.bytes.wrapped { $0 }.all() },
    ]
    for read in readers {
      let response = try await response()
      #expect(await code { try await read(response) } == .connectionLost)
      let completion = try await response.completion
      #expect((completion.error as? NetworkError)?.code == .connectionLost)
      #expect((reports.value.last?.error as? NetworkError)?.code == .connectionLost)
    }
  }

  @Test func `errors of reading that arise after the body came are mapped`() async throws {
    let limits: [(NetworkResponse) async throws -> Void] = [
      { _ = try await $0.lines.limit(bytes: 3).all() }, { _ = try await $0.events.limit(bytes: 3).all() },
      { _ = try await $0.buffered(upTo: 3) }, { _ = try await $0.lines.decode(Number.self).all() },
      { _ = try $0.data }, { _ = try $0.text }, { _ = try $0.decode(Number.self) },
    ]
    let codes: [NetworkError.Code] = [
      .lineTooLong, .lineTooLong, .bodyTooLarge, .decodingFailed, .bodyNotBuffered, .bodyNotBuffered, .bodyNotBuffered,
    ]
    for (read, wanted) in zip(limits, codes) {
      let response = try await StreamFixture(StreamFixture.Reply("data: 123456")).client(behaviors).stream(.get("x"))
      #expect(await code { try await read(response) } == wanted)
    }
  }

  @Test func `lines, events, downloads and pages of a client are mapped`() async throws {
    let failing = NetworkClient(ClosureTransport { _ in throw NetworkError(.cannotConnect, "no") }, behaviors)
    #expect(await code { _ = try await failing.events(.get("x")).all() } == .cannotConnect)
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    #expect(await code { try await failing.download(.get("x"), to: file) } == .cannotConnect)
    #expect(await code { for try await _: Number in failing.jsonLines(.get("x")) {} } == .cannotConnect)
    #expect(await code { _ = try await failing.pages(Request<[Int]>.get("x")).all() } == .cannotConnect)

    let wrong = client(200, "x\n", "text/plain")
    #expect(await code { _ = try await wrong.events(.get("x")).all() } == .unexpectedContentType)
    #expect(await code { for try await _: Number in wrong.jsonLines(.get("x")) {} } == .decodingFailed)
    let rule = NextPage<[Int]>.request { page, _ in
      _ = try page.http.decode(Number.self)
      return nil
    }
    let numbers = client(200, "[1]").pages(Request<[Int]>.get("x"), following: rule)
    #expect(await code { for try await _ in numbers {} } == .decodingFailed)
    let folder = URL(filePath: "/nowhere/\(UUID().uuidString)/file")
    #expect(await code { try await client().download(.get("x"), to: folder) } == .fileUnwritable)
  }

  @Test func `events are requested again by the original error, and the last one is mapped`() async throws {
    let server = StreamFixture(.init("data: 1\n\n", error: .connectionLost), .init(error: .badResponse))
    let client = server.client(behaviors).with { $0.clock = LeapingClock().requestClock }
    let events = client.events(.get("feed"), reconnecting: .automatic)
    #expect(await code { _ = try await events.all() } == .badResponse)
    #expect(server.requests.value.count == 2)
  }

  @Test func `a cancellation is not mapped, and observers see the original`() async throws {
    let client = client(500)
    _ = await code { try await client.send(.get("x")) }
    #expect((reports.value.last?.error as? NetworkError)?.code == .unacceptableStatus)
    let before = count.value
    await #expect(throws: CancellationError.self) {
      try await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await client.send(.get("x"))
      }.value
    }
    #expect(count.value == before)
  }

  @Test func `shutting a client down is an error like any other`() async {
    let client = client()
    await client.shutdown()
    #expect(await code { try await client.send(.get("x")) } == .clientShutDown)
  }

  @Test func `retries decide by the original error`() async {
    let transport = ClosureTransport(statuses: [503, 500])
    let retry = RetryBehavior(RetryPolicy(maximumRetries: 2, backoff: Backoff(base: .zero, floor: .zero)))
    let client = NetworkClient(transport, [mapError, retry])
    #expect(await code { try await client.send(.get("x")) } == .unacceptableStatus)
    #expect(transport.sent.count == 2)
  }

  @Test func `a refused sign-in of a prerequisite is mapped where it leaves the client`() async {
    let fixture = TokenFixture()
    fixture.server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let client = fixture.client(fixture.session(), mapError)
    let error = await #expect(throws: AppError.self) { try await client.send(.get("x")) }
    #expect(error?.cause is NetworkError)
    #expect(count.value == 1)
  }

  @Test func `custom mappers are called, the innermost first`() async {
    struct Text: Error { let text: String }
    struct Adding: ErrorMapper {
      let name: String
      var order: BehaviorOrder = .first
      func mapped(_ error: any Error) -> any Error { Text(text: ((error as? Text)?.text ?? "") + name) }
    }
    let client = NetworkClient(ClosureTransport(500), [Adding(name: "a"), Adding(name: "b")])
    let error = await #expect(throws: Text.self) { try await client.send(.get("x")) }
    #expect(error?.text == "ba")
  }
}
