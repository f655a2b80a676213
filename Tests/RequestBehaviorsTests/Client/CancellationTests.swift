import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct CancellationTests {
  let journal = Journal()

  @Test func `promise 6: a call that is cancelled before it begins sends nothing`() async {
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [JournalBehavior(name: "a", journal: journal)])
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.send(.get("x"))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.sent.isEmpty)
    #expect(journal.count(of: "a.beforeSend") == journal.count(of: "a.afterFailure"))
  }

  @Test func `promise 6: a cancellation during the send is a CancellationError, whatever the transport throws`() async {
    let transport = ClosureTransport { _ in
      withUnsafeCurrentTask { $0?.cancel() }
      throw Failure("connection dropped")
    }
    let client = NetworkClient(transport, [JournalBehavior(name: "a", journal: journal)])
    let task = Task { try await client.send(.get("x")) }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(journal.count(of: "a.afterFailure") == 1)
  }

  @Test func `promise 6: a response that arrives after the cancellation is dropped and its stream cancelled`() async {
    let isCancelled = Box(false)
    let stream = ByteStream(
      AsyncThrowingStream<Data, any Error> { $0.finish() }, onCancel: { isCancelled.value = true })
    let transport = ClosureTransport { request in
      withUnsafeCurrentTask { $0?.cancel() }
      return NetworkResponse(request: request, statusCode: 200, body: .stream(stream))
    }
    let task = Task { try await NetworkClient(transport).send(.get("x")) }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(isCancelled.value)
  }

  @Test func `promise 6: a wait between two sends ends promptly, and the observer learns of the last failure`() async {
    let clock = ManualClock()
    let reports = Box<[CallReport]>([])
    let patient = ClosureBehavior("patient", order: .retry) { request, next in
      let response = try await next(request)
      try await request.call.clock.sleep(for: .seconds(60))
      return response
    }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [patient])
    configuration.clock = clock.requestClock
    configuration.behaviors.append(.onCallEnd { report in reports.update { $0.append(report) } })
    let client = NetworkClient(configuration: configuration, transport: ClosureTransport(503))
    let task = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect((reports.value[0].lastFailure as? NetworkError)?.statusCode == 503)
  }

  @Test func `promise 6: once an afterSuccess has begun the call is no longer turned into a cancellation`() async throws
  {
    let cancel = ClosureBehavior(
      "commit", order: .last, afterSuccess: { _, _ in withUnsafeCurrentTask { $0?.cancel() } })
    let client = NetworkClient(ClosureTransport(200, "7"), [cancel, JournalBehavior(name: "a", journal: journal)])
    let value = try await Task { try await client.send(.get("x").returning(Int.self)) }.value
    #expect(value == 7)
    #expect(journal.count(of: "a.afterSuccess") == 1)
  }

  @Test func `promise 9: the chain cancels a stream body when an afterSuccess throws`() async {
    let cancelled = Box(0)
    let stream = ByteStream(AsyncThrowingStream<Data, any Error> { $0.finish() }, onCancel: { cancelled.value += 1 })
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 200, body: .stream(stream)) }
    let failing = JournalBehavior(name: "a", journal: journal, failing: .afterSuccess)
    await #expect(throws: Failure.self) { try await NetworkClient(transport, [failing]).send(.get("x")) }
    #expect(cancelled.value == 1)
  }

  @Test func `promise 9: a stream body that the caller does not want is cancelled`() async throws {
    let cancelled = Box(0)
    let stream = ByteStream(AsyncThrowingStream<Data, any Error> { $0.finish() }, onCancel: { cancelled.value += 1 })
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 200, body: .stream(stream)) }
    try await NetworkClient(transport).send(.get("x"))
    #expect(cancelled.value == 1)
  }
}
