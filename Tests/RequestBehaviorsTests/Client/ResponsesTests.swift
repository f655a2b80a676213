import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Many requests, a limited number at a time.
@Suite(.limited) struct ResponsesTests {
  private let underWay = Box((now: 0, most: 0))

  /// A server that echoes the last component of the path, and counts the requests under way.
  private func echo(_ hold: (@Sendable (String) async -> Void)? = nil) -> ClosureTransport {
    ClosureTransport { [underWay] request in
      underWay.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { underWay.update { $0.now -= 1 } }
      let name = request.url.lastPathComponent
      await hold?(name)
      try Task.checkCancellation()
      return NetworkResponse(
        request: request, statusCode: name == "7" ? 500 : 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(name.utf8)))
    }
  }

  private func numbers(_ range: Range<Int>) -> [Request<Int>] { range.map { .get("n/\($0)") } }

  @Test func `an outcome that has been read is not kept`() async throws {
    final class Page: Decodable, Sendable {
      init(from decoder: any Decoder) throws {}
    }
    weak var first: Page?
    var read = 0
    let pages = (0..<3).map { Request<Page>.get("n/\($0)") }
    for try await outcome in NetworkClient(echo()).responses(to: pages, atMost: 3) {
      read += 1
      if read == 1 { first = try outcome.value } else { #expect(first == nil) }
    }
    #expect(read == 3)
  }

  @Test func `each request has one outcome, and a failure does not end the others`() async throws {
    let transport = echo()
    var values: [Int: Int] = [:]
    var failures: [Int] = []
    for try await outcome in NetworkClient(transport).responses(to: numbers(0..<50), atMost: 8) {
      switch outcome.result {
      case .success(let response): values[outcome.index] = response.value
      case .failure(let error):
        failures.append(outcome.index)
        #expect((error as? NetworkError)?.statusCode == 500)
        #expect(throws: NetworkError.self) { try outcome.value }
      }
    }
    #expect(failures == [7])
    #expect(values.count == 49)
    #expect(values.allSatisfy { $0.key == $0.value })
    #expect(underWay.value.most <= 8)
    #expect(transport.sent.count == 50)
  }

  @Test func `outcomes come in the order in which the requests end`() async throws {
    let gates = (0..<3).map { _ in TestGate() }
    let client = NetworkClient(echo { await gates[Int($0) ?? 0].pass() })
    var outcomes = client.responses(to: numbers(0..<3), atMost: 3).makeAsyncIterator()
    for index in [2, 0, 1] {
      gates[index].open()
      #expect(try await outcomes.next()?.index == index)
    }
    #expect(try await outcomes.next() == nil)
    #expect(try await outcomes.next() == nil)
  }

  @Test func `a slow loop delays the requests, and the list is read on demand`() async throws {
    let transport = echo()
    let taken = Box(0)
    let requests = (0..<1_000_000).lazy.map { number -> Request<Int> in
      taken.update { $0 += 1 }
      return .get("n/\(number + 10)")
    }
    var read = 0
    for try await outcome in NetworkClient(transport).responses(to: requests, atMost: 4) {
      read += 1
      #expect(try outcome.value == outcome.index + 10)
      #expect(taken.value <= read + 3)
      if read == 20 { break }
    }
    #expect(transport.sent.count <= 23)
  }

  @MainActor @Test func `a lazy list of an actor makes its requests there`() async throws {
    var made = 0
    let requests = (10..<40).lazy.map { number -> Request<Int> in
      MainActor.assertIsolated()
      made += 1
      return .get("n/\(number)")
    }
    for try await outcome in NetworkClient(echo()).responses(to: requests, atMost: 4) {
      #expect(try outcome.value == outcome.index + 10)
    }
    #expect(made == 30)
  }

  @Test func `no request is sent before the first outcome is read`() async throws {
    let transport = echo()
    let responses = NetworkClient(transport).responses(to: numbers(0..<3), atMost: 2)
    var outcomes = responses.makeAsyncIterator()
    #expect(transport.sent.isEmpty)
    _ = try await outcomes.next()
    #expect(try await responses.all().count == 3)
  }

  @Test func `leaving the loop cancels the requests under way`() async throws {
    let (begun, ended) = (TestGate(), TestGate())
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "0" {
        await begun.waitForArrivals(3)
        return NetworkResponse(request: request, statusCode: 200, body: .data(Data("0".utf8)))
      }
      begun.arrive()
      defer { ended.arrive() }
      try await Task.sleep(for: .seconds(3_600))
      return NetworkResponse(request: request, statusCode: 200)
    }
    for try await outcome in NetworkClient(transport).responses(to: numbers(0..<9), atMost: 4) {
      #expect(outcome.index == 0)
      break
    }
    await ended.waitForArrivals(3)
    #expect(transport.sent.count == 4)
  }

  @Test func `cancelling the task that reads cancels the requests under way, and is thrown`() async throws {
    let (begun, ended) = (TestGate(), TestGate())
    let transport = ClosureTransport { request in
      begun.arrive()
      defer { ended.arrive() }
      try await Task.sleep(for: .seconds(3_600))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport)
    let requests = numbers(0..<9)
    let task = Task { try await client.responses(to: requests, atMost: 4).all() }
    await begun.waitForArrivals(4)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await ended.waitForArrivals(4)
    #expect(transport.sent.count == 4)
  }

  @Test func `the deadline for all cancels requests under way and does not send the others`() async throws {
    let clock = ManualClock()
    let begun = TestGate()
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent != "0" {
        begun.arrive()
        try await Task.sleep(for: .seconds(3_600))
      }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("0".utf8)))
    }
    let client = NetworkClient(transport, clock.requestClock, [])
    let requests = numbers(0..<100)
    let task = Task { try await client.responses(to: requests, atMost: 4, deadline: .seconds(30)).all() }
    await begun.waitForArrivals(4)
    clock.advance(by: .seconds(31))
    let outcomes = try await task.value
    #expect(outcomes.count == 100)
    #expect(transport.sent.count == 5)
    #expect(outcomes.map(\.index).sorted() == Array(0..<100))
    let errors = outcomes.compactMap { outcome -> NetworkError? in
      guard case .failure(let error) = outcome.result else { return nil }
      return error as? NetworkError
    }
    #expect(errors.count == 99)
    #expect(errors.allSatisfy { $0.code == .deadlineExceeded })
    #expect(errors.filter(\.mayHaveArrived).count == 4)
    #expect(errors.first?.message.contains("30 s") == true)
  }

  @Test func `the progress and the body of a request that the deadline comes before end`() async throws {
    let (clock, begun, cancelled) = (ManualClock(), TestGate(), Box(0))
    let transport = ClosureTransport { _ in
      begun.arrive()
      try await Task.sleep(for: .seconds(3_600))
      throw CancellationError()
    }
    let client = NetworkClient(transport, clock.requestClock, [])
    let progress = TransferProgress()
    let body = ByteStream(AsyncStream<Data> { $0.finish() }, onCancel: { cancelled.update { $0 += 1 } })
    let requests = [
      Request<String>.get("0"), Request<String>.post("1", body: .oneShot(body)).with(\.progress, progress),
    ]
    let task = Task { try await client.responses(to: requests, atMost: 1, deadline: .seconds(30)).all() }
    await begun.waitForArrivals(1)
    clock.advance(by: .seconds(31))
    #expect(try await task.value.count == 2)
    for await _ in progress.states {}
    #expect(cancelled.value == 1)
  }

  @Test func `shutting the client down fails the requests, each with that reason`() async throws {
    let begun = TestGate()
    let transport = ClosureTransport { request in
      begun.arrive()
      return NetworkResponse(request: request, statusCode: 503)
    }
    let retry = RetryBehavior(RetryPolicy(backoff: Backoff(base: .seconds(60), floor: .seconds(60))))
    let client = NetworkClient(transport, [retry])
    let requests = numbers(0..<10)
    let task = Task { try await client.responses(to: requests, atMost: 2).all() }
    await begun.waitForArrivals(2)
    await client.shutdown()
    let outcomes = try await task.value
    #expect(outcomes.count == 10)
    let codes = outcomes.map { outcome in #expect(throws: NetworkError.self) { try outcome.value }?.code }
    // The two whose wait for a repeat ended have the response that they would have repeated.
    #expect(codes.count { $0 == .clientShutDown } >= 8)
    #expect(codes.allSatisfy { $0 == .clientShutDown || $0 == .unacceptableStatus })
    #expect(transport.sent.count == 2)
  }

  @Test func `each error is mapped once`() async throws {
    struct AppError: Error { let cause: any Error }
    let client = NetworkClient(echo(), [.mapError { AppError(cause: $0) }])
    for try await outcome in client.responses(to: numbers(7..<8), atMost: 2) {
      let error = #expect(throws: AppError.self) { try outcome.value }
      #expect(error?.cause is NetworkError)
    }
    for try await outcome in client.responses(to: [Request<NetworkResponse>.get("n/1")], atMost: 1) {
      let error = #expect(throws: AppError.self) { try outcome.value.decode([String].self) }
      #expect(error?.cause is NetworkError)
    }
  }

  @Test func `whole responses and requests without a value can be sent too`() async throws {
    let client = NetworkClient(echo())
    let whole = try await client.responses(to: [Request<NetworkResponse>.get("n/3")], atMost: 1).all()
    #expect(try whole.first?.value.text == "3")
    let deletions = ["1", "2", "7"].map { Request<Void>.delete("n/\($0)") }
    let outcomes = try await client.responses(to: deletions, atMost: 2).all()
    #expect(outcomes.count { (try? $0.result.get()) != nil } == 2)
  }

  @Test func `an empty list has no outcome, and a limit below one counts as one`() async throws {
    let client = NetworkClient(echo())
    #expect(try await client.responses(to: [Request<Int>](), atMost: 4).all().isEmpty)
    #expect(try await client.responses(to: numbers(0..<3), atMost: 0).all().count == 3)
    #expect(underWay.value.most == 1)
  }

  @Test func `10,000 requests are sent at a time, and through limits`() async throws {
    let limits: [any RequestBehavior] = [
      .concurrencyLimit(64), .concurrencyLimit(16, name: "all hosts", key: LimitKey.forAllRequests),
    ]
    let client = NetworkClient(echo(), limits)
    let outcomes = try await client.responses(to: numbers(10..<10_010), atMost: 10_000).all()
    #expect(outcomes.count == 10_000)
    #expect(outcomes.allSatisfy { (try? $0.value) == $0.index + 10 })
    #expect(underWay.value.most <= 16)
  }
}
