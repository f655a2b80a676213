import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct ManualClockTests {
  let clock = ManualClock()

  @Test func `a wait ends when the clock reaches its end, not before`() async throws {
    async let waiting: Void = clock.requestClock.sleep(for: .seconds(10))
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(9_999))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .milliseconds(1))
    try await waiting
    #expect(clock.sleeperCount == 0)
    #expect(clock.now == .seconds(10))
  }

  @Test func `advancing moves the date as far as the monotonic time`() {
    let before = clock.date
    clock.advance(by: .milliseconds(1_500))
    #expect(clock.date == before + 1.5)
  }

  // The longest time with components, and the longest that a duration can hold.
  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2, .seconds(Int64.max) * 18])
  func `time ends without ending the process`(_ eternity: Duration) async throws {
    let waiting = Task { [clock] in try await clock.requestClock.sleep(for: eternity) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: eternity)
    try await waiting.value
    clock.advance(by: eternity)
    await clock.run(for: eternity)
    #expect(clock.now == .seconds(Int64.max))
    // Work that waits at the end of time goes on.
    try await clock.run { [clock] in try await clock.requestClock.sleep(for: .seconds(1)) }
    #expect(clock.now == .seconds(Int64.max))
  }

  @Test func `setting the date leaves the monotonic time alone`() {
    clock.setDate(Date(timeIntervalSince1970: 0))
    #expect(clock.now == .zero)
    #expect(clock.date == Date(timeIntervalSince1970: 0))
  }

  @Test func `a cancelled wait throws CancellationError at once`() async {
    let task = Task { [clock] in try await clock.requestClock.sleep(for: .seconds(10)) }
    await clock.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a wait of zero returns at once`() async throws {
    try await clock.requestClock.sleep(for: .zero)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `the immediate clock does not end a refresh before its time`() async throws {
    let session = TokenSession(
      source: .closure { _ in
        for _ in 0..<1_000 { await Task.yield() }
        return AccessToken("t")
      })
    let mock = MockTransport()
    mock.on(.get, "a").respond()
    var configuration = RequestConfiguration(baseURL: URL(string: "https://example.com")!)
    configuration.clock = .immediate
    configuration.behaviors = [.tokenAuth(session)]
    try await NetworkClient(configuration: configuration, transport: mock).send(.get("a"))
    #expect(mock.sent.map { $0.headers["Authorization"] } == ["Bearer t"])
  }

  @Test func `the immediate clock does not wait`() async throws {
    let clock = RequestClock.immediate
    let start = clock.now()
    try await clock.sleep(for: .seconds(3_600))
    #expect(clock.now() - start < .seconds(3_600))
  }
}
