import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Records its notifications.
private final class NotingIndicator: ActivityIndicator {
  let changes = Box<[Bool]>([])
  private let stream: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation

  init() { (stream, continuation) = AsyncStream<Bool>.makeStream() }

  @MainActor func setActive(_ isActive: Bool) {
    changes.update { $0.append(isActive) }
    continuation.yield(isActive)
  }

  /// Waits for the next change.
  func next() async -> Bool? { await stream.first { _ in true } }
}

@Suite(.limited) struct ActivityIndicatorBehaviorTests {
  private let clock = ManualClock()
  private let indicator = NotingIndicator()
  private let gate = Gate()

  private func client(_ behavior: ActivityIndicatorBehavior) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior])
    configuration.clock = clock.requestClock
    let transport = ClosureTransport { [gate] request in
      try await gate.wait()
      return NetworkResponse(request: request, statusCode: 200)
    }
    return NetworkClient(configuration: configuration, transport: transport)
  }

  @Test func `activity is shown after a delay and hidden after another`() async throws {
    let behavior = ActivityIndicatorBehavior(indicator, showDelay: .seconds(1), hideDelay: .seconds(2))
    let client = client(behavior)
    let first = Task { try await client.send(.get("a")) }
    let second = Task { try await client.send(.get("b")) }
    await gate.waiters(2)
    #expect(behavior.inFlightCount == 2)
    await clock.waitForSleepers(1)
    #expect(indicator.changes.value.isEmpty)
    clock.advance(by: .seconds(1))
    #expect(await indicator.next() == true)
    gate.open()
    try await first.value
    try await second.value
    #expect(behavior.inFlightCount == 0)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    #expect(await indicator.next() == false)
    #expect(indicator.changes.value == [true, false])
  }

  @Test func `a request that ends before the delay is not shown, nor is a pause between two`() async throws {
    let behavior = ActivityIndicatorBehavior(indicator, showDelay: .seconds(1), hideDelay: .seconds(1))
    let client = client(behavior)
    gate.open()
    try await client.send(.get("short"))
    await clock.waitForSleepers(1)
    gate.close()
    let long = Task { try await client.send(.get("long")) }
    await gate.waiters(1)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    #expect(await indicator.next() == true)
    gate.open()
    try await long.value
    await clock.waitForSleepers(1)
    gate.close()
    let next = Task { try await client.send(.get("next")) }
    await gate.waiters(1)
    clock.advance(by: .seconds(1))
    gate.open()
    try await next.value
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await indicator.next() == false)
    #expect(indicator.changes.value == [true, false])
  }
}

@Suite(.limited) struct BackgroundTaskBehaviorTests {
  private let runner = NotingRunner()
  private let gate = Gate()

  private var client: NetworkClient {
    let transport = ClosureTransport { [gate] request in
      try await gate.wait()
      return NetworkResponse(request: request, statusCode: 200)
    }
    return NetworkClient(transport, [.backgroundTask(runner)])
  }

  @Test func `background time is held while a request is under way`() async throws {
    let client = client
    let task = Task { try await client.send(.get("users/\(1)")) }
    await gate.waiters(1)
    #expect(await runner.names == ["GET users/{}"])
    #expect(await runner.held.count == 1)
    gate.open()
    try await task.value
    #expect(await runner.held.isEmpty)
    #expect(await runner.ended == [1])
  }

  @Test func `the name of a background task has no JSON Web Token`() async throws {
    let link = "https://api.example.com/v1/verify/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    gate.open()
    try await client.send(.get(url: #require(URL(string: link))))
    #expect(await runner.names == ["GET /v1/verify/REDACTED"])
  }

  @Test func `when the background time expires the request ends, and the time is released once`() async throws {
    let client = client
    let task = Task { try await client.send(.get("x")) }
    await gate.waiters(1)
    await runner.expire()
    #expect(await runner.ended == [1])
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .backgroundTimeExpired)
    #expect(await runner.ended == [1])
  }

  @Test func `a cancellation by the caller remains a cancellation`() async {
    let client = client
    let task = Task { try await client.send(.get("x")) }
    await gate.waiters(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await runner.ended == [1])
  }

  @Test func `background time is held until a streamed body has ended`() async throws {
    let source = ChunkSource()
    let response = try await NetworkClient(source.transport(), [.backgroundTask(runner)]).stream(.get("x"))
    #expect(await runner.held.count == 1)
    source.finish()
    #expect(try await response.bytes.texts() == [])
    await runner.hasEnded.pass()
    #expect(await runner.ended == [1])
  }

  @Test func `when the background time expires a streamed body ends, and the time is released once`() async throws {
    let source = ChunkSource()
    let response = try await NetworkClient(source.transport(), [.backgroundTask(runner)]).stream(.get("x"))
    let reading = Task { try await response.bytes.texts() }
    await runner.expire()
    #expect(await runner.ended == [1])
    let error = await #expect(throws: NetworkError.self) { try await reading.value }
    #expect(error?.code == .backgroundTimeExpired)
    #expect(source.cancelCount == 1)
    #expect(await runner.ended == [1])
  }

  @Test func `a request is sent even if the system grants no background time`() async throws {
    await runner.refuse()
    gate.open()
    try await client.send(.get("x"))
    #expect(await runner.ended.isEmpty)
  }
}

@Suite(.limited) struct ConservationTests {
  private enum Fate: CaseIterable { case answer, refuse, fail, hang, cancelEarly }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `every count returns to zero, whatever the outcome of the requests`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let runner = NotingRunner()
    let indicator = NotingIndicator()
    let activity = ActivityIndicatorBehavior(indicator, showDelay: .zero, hideDelay: .zero)
    let gate = Gate()
    let transport = ClosureTransport { request in
      switch request.url.lastPathComponent {
      case "fail": throw Failure("down")
      case "hang", "cancelEarly": try await gate.wait()
      default: break
      }
      return NetworkResponse(request: request, statusCode: request.url.lastPathComponent == "refuse" ? 500 : 200)
    }
    let records = Box<[LogRecord]>([])
    let sink = ClosureLogSink { record in records.update { $0.append(record) } }
    let timings = LatencyStatistics()
    let client = NetworkClient(transport, [activity, .backgroundTask(runner), .logging(sink), .timing(timings)])
    let fates = (0..<200).map { _ in Fate.allCases.randomElement(using: &random) ?? .answer }
    let tasks = fates.map { fate in Task { try await client.send(.get("\("\(fate)")")) } }
    for (fate, task) in zip(fates, tasks) where fate == .cancelEarly { task.cancel() }
    await gate.waiters(fates.count { $0 == .hang })
    for task in tasks.shuffled(using: &random) { task.cancel() }
    for task in tasks { _ = await task.result }
    #expect(activity.inFlightCount == 0)
    #expect(await runner.held.isEmpty)
    #expect(await Set(runner.ended).count == runner.ended.count)
    #expect(records.value.count == 200)
    #expect(
      records.value.count { $0.error == "cancelled" } + timings.endpoints.reduce(0) { $0 + $1.durations.count } == 200)
    // Changes are told on the main actor, so by now all are that were made before the calls ended. Where the last of
    // those was that something is under way, one more is told.
    var isActive = await MainActor.run { indicator.changes.value.last }
    while isActive == true {
      _ = await indicator.next()
      isActive = indicator.changes.value.last
    }
  }
}

/// Gives time, and takes note.
private final class NotingRunner: BackgroundTaskRunner {
  @MainActor private(set) var names: [String] = []
  @MainActor private(set) var held: [Int: @MainActor @Sendable () -> Void] = [:]
  @MainActor private(set) var ended: [Int] = []
  @MainActor private var isRefusing = false
  let hasEnded = TestGate()

  @MainActor func beginTask(
    named name: String, expiration: @escaping @MainActor @Sendable () -> Void
  ) -> BackgroundTaskID? {
    guard !isRefusing else { return nil }
    names.append(name)
    held[names.count] = expiration
    return BackgroundTaskID(rawValue: names.count)
  }

  @MainActor func endTask(_ id: BackgroundTaskID) {
    held[id.rawValue] = nil
    ended.append(id.rawValue)
    hasEnded.open()
  }

  @MainActor func expire() {
    for expiration in held.values { expiration() }
  }

  @MainActor func refuse() { isRefusing = true }
}

/// Holds those who wait until it is open, or their task is cancelled.
private final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    var cancelled: Set<Int> = []
    var counting: [(count: Int, waiter: Waiter<Void>)] = []
  }

  private let state = Box(UncheckedState(State()))

  // Only ever used inside the box's lock.
  private struct UncheckedState: @unchecked Sendable {
    var value: State
    init(_ value: State) { self.value = value }
  }

  func wait() async throws {
    let id = state.update { state in
      state.value.arrivals += 1
      return state.value.arrivals
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready = state.update { state -> [Waiter<Void>]? in
          guard !state.value.isOpen else { return nil }
          guard state.value.cancelled.remove(id) == nil else { return nil }
          state.value.waiting[id] = continuation
          let reached = state.value.counting.filter { $0.count <= state.value.waiting.count }
          state.value.counting.removeAll { $0.count <= state.value.waiting.count }
          return reached.map(\.waiter)
        }
        guard let ready else { return continuation.resume() }
        for counter in ready { counter.settle(.success(())) }
      }
    } onCancel: {
      let continuation = state.update { state in
        let continuation = state.value.waiting.removeValue(forKey: id)
        if continuation == nil { state.value.cancelled.insert(id) }
        return continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
    try Task.checkCancellation()
  }

  /// Waits until so many wait, or the task is cancelled.
  func waiters(_ count: Int) async {
    let waiter = Waiter<Void>()
    let isReached = state.update { state in
      if state.value.waiting.count >= count { return true }
      state.value.counting.append((count, waiter))
      return false
    }
    if !isReached { try? await waiter.value() }
  }

  func open() {
    let released = state.update { state in
      state.value.isOpen = true
      defer { state.value.waiting = [:] }
      return Array(state.value.waiting.values)
    }
    for continuation in released { continuation.resume() }
  }

  func close() { state.update { $0.value.isOpen = false } }
}
