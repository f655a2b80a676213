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

  @Test func `an earlier time is not held up by a later one`() async {
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

  @Test func `what is scheduled is called on the system's clock and on others`() async {
    for clock in [RequestClock.system, .immediate] {
      _ = clock.schedule(after: .milliseconds(20)) { [continuation] in continuation.yield(1) }
      var numbers = called.makeAsyncIterator()
      #expect(await numbers.next() == 1)
    }
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
