import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct CallObserverTests {
  private struct Observer: CallObserver {
    let observesAttempts: Bool
    let seen: Box<[String]>

    func callStarted(_ request: NetworkRequest) { seen.value.append("call") }
    func attemptStarted(_ request: NetworkRequest) { seen.value.append("attempt \(request.attemptNumber)") }
    func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest) { seen.value.append("head") }
    func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) { seen.value.append("end \(attempt.number)") }
    func eventRecorded(_ event: Call.Event, of call: Call) { seen.value.append("event") }
    func callEnded(_ report: CallReport) { seen.value.append("call ended") }
  }

  private let seen = Box<[String]>([])
  private let transport = ClosureTransport { request in
    NetworkResponse(request: request, statusCode: request.attemptNumber == 1 ? 503 : 200)
  }

  private func client(observingAttempts observesAttempts: Bool) -> NetworkClient {
    let twice = ClosureBehavior("twice", order: .retry) { request, next in
      _ = try await next(request)
      request.call.record("again", from: "twice")
      return try await next(request)
    }
    return NetworkClient(transport, [Observer(observesAttempts: observesAttempts, seen: seen), twice])
  }

  @Test func `an observer sees each call, each of its attempts and each decision`() async throws {
    try await client(observingAttempts: true).send(.get("x"))
    #expect(seen.value == ["call", "attempt 1", "end 1", "event", "attempt 2", "end 2", "call ended"])
  }

  @Test func `an observer without attempts sees calls and decisions`() async throws {
    try await client(observingAttempts: false).send(.get("x"))
    #expect(seen.value == ["call", "event", "call ended"])
  }

  @Test(arguments: [
    (true, ["call", "attempt 1", "head", "end 1", "call ended"]), (false, ["call", "call ended"]),
  ])
  func `the head and the end of a streamed response are of an attempt`(observes: Bool, expected: [String]) async throws
  {
    let source = ChunkSource()
    let observer = Observer(observesAttempts: observes, seen: seen)
    let response = try await NetworkClient(source.transport(), [observer]).stream(.get("x"))
    source.finish()
    #expect(try await response.bytes.texts().isEmpty)
    #expect(seen.value == expected)
  }

  @Test(arguments: [(true, 2), (false, 0)])
  func `the sends of a hedged call are attempts`(observes: Bool, starts: Int) async throws {
    let (first, isSecond) = (TestGate(), Box(false))
    let slow = ClosureTransport { request in
      let waits = !isSecond.value
      isSecond.value = true
      if waits { await first.pass() } else { first.open() }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let observer = Observer(observesAttempts: observes, seen: seen)
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [observer, .hedging(after: .seconds(1), budget: .unlimited)])
    configuration.clock = .immediate
    try await NetworkClient(configuration: configuration, transport: slow).send(.get("x"))
    #expect(seen.value.count { $0.hasPrefix("attempt") } == starts)
    #expect(seen.value.count { $0 == "call ended" } == 1)
  }

  @Test func `an observer without attempts does not see a failed attempt`() async throws {
    let failing = ClosureTransport { _ in throw NetworkError(.cannotConnect, "the test's server is away") }
    let observer = Observer(observesAttempts: false, seen: seen)
    await #expect(throws: NetworkError.self) { try await NetworkClient(failing, [observer]).send(.get("x")) }
    #expect(seen.value == ["call", "call ended"])
  }
}
