import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct TimedActionsTests {
  private let clock = ManualClock()
  private let called: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation

  init() { (called, continuation) = AsyncStream.makeStream(of: Int.self) }

  @Test func `closures are called at their times, for which one task waits`() async {
    let actions = TimedActions(clock.requestClock)
    for number in [1, 2, 3] {
      _ = actions.add(after: .seconds(number)) { [continuation] in continuation.yield(number) }
    }
    var numbers = called.makeAsyncIterator()
    for number in [1, 2, 3] {
      await clock.waitForSleepers(1)
      #expect(clock.sleeperCount == 1)
      clock.advance(by: .seconds(1))
      #expect(await numbers.next() == number)
    }
  }

  @Test func `a later time does not delay an earlier one`() async {
    let actions = TimedActions(clock.requestClock)
    _ = actions.add(after: .seconds(60)) { [continuation] in continuation.yield(60) }
    await clock.waitForSleepers(1)
    _ = actions.add(after: .zero) { [continuation] in continuation.yield(0) }
    var numbers = called.makeAsyncIterator()
    #expect(await numbers.next() == 0)
  }

  @Test func `a closure that was removed is not called, and the others are`() async {
    let actions = TimedActions(clock.requestClock)
    let id = actions.add(after: .seconds(1)) { [continuation] in continuation.yield(1) }
    _ = actions.add(after: .seconds(2)) { [continuation] in continuation.yield(2) }
    actions.remove(id)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    var numbers = called.makeAsyncIterator()
    #expect(await numbers.next() == 2)
  }

  @Test func `scheduled closures are called on the system's clock and on others`() async {
    for clock in [RequestClock.system, .immediate] {
      _ = clock.schedule(after: .milliseconds(20)) { [continuation] in continuation.yield(1) }
      var numbers = called.makeAsyncIterator()
      #expect(await numbers.next() == 1)
    }
  }

  /// The processor time of the calls of so many closures, each at a time of its own.
  private func time(of count: Int) async -> Duration {
    let (now, taken) = (Box(Duration.zero), Box(Duration.zero))
    let (begin, end) = (TestGate(), TestGate())
    // The list looks at the clock before it calls a closure, on the same thread.
    let clock = RequestClock(
      now: {
        Thread.current.threadDictionary["look"] = ThreadTime.now
        return now.value
      }, date: { Date() },
      sleep: { duration in
        await begin.pass()
        try Task.checkCancellation()
        now.update { $0 += duration }
      })
    let actions = TimedActions(clock)
    for number in (1...count).shuffled() {
      _ = actions.add(after: .seconds(number)) {
        let look = Thread.current.threadDictionary["look"] as? Duration ?? .zero
        taken.update { $0 += ThreadTime.now - look }
        end.arrive()
      }
    }
    begin.open()
    await end.waitForArrivals(count)
    return taken.value
  }

  @Test func `the cost of a closure that is due does not grow with their number`() async {
    #expect(await Growth.isLinear(from: 250) { await time(of: $0) })
  }

  @Test func `removed closures are released before their time`() async {
    final class Kept: Sendable {}
    let actions = TimedActions(clock.requestClock)
    weak var kept: Kept?
    do {
      let value = Kept()
      kept = value
      let ids = (0..<1_000).map { _ in actions.add(after: .seconds(60)) { withExtendedLifetime(value) {} } }
      _ = actions.add(after: .seconds(2)) { [continuation] in continuation.yield(2) }
      for id in ids { actions.remove(id) }
    }
    #expect(kept == nil)
    _ = actions.add(after: .seconds(1)) { [continuation] in continuation.yield(1) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    var numbers = called.makeAsyncIterator()
    #expect(await [numbers.next(), numbers.next()] == [1, 2])
  }

  @Test func `a wait on the system's clock may be of any length`() async {
    for duration in [Duration.seconds(Int64.max), .seconds(Int64.max) * 2] {
      let gate = TestGate()
      let task = Task {
        gate.arrive()
        try await RequestClock.system.sleep(for: duration)
      }
      await gate.waitForArrivals(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}
