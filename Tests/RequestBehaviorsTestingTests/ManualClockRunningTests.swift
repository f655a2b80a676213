import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A clock that lets a time pass, one wait after the other.
@Suite(.limited) struct ManualClockRunningTests {
  @Test func `each sleeper wakes at its own time, even if it sleeps again`() async throws {
    // All tasks run on the one thread of another clock's work, so that a busy machine does not matter.
    let (times, end) = try await ManualClock().run {
      let clock = ManualClock()
      let waiting = Task {
        var times: [Duration] = []
        for _ in 0..<3 {
          try await clock.requestClock.sleep(for: .seconds(2))
          times.append(clock.now)
        }
        return times
      }
      await clock.run(for: .seconds(10))
      return (try await waiting.value, clock.now)
    }
    #expect(times == [.seconds(2), .seconds(4), .seconds(6)])
    #expect(end == .seconds(10))
  }

  @Test func `time passes only while all of the work waits`() async throws {
    let clock = ManualClock()
    let requestClock = clock.requestClock
    let times = try await clock.run {
      try await withThrowingTaskGroup(of: [Duration].self) { group in
        for number in 1...20 {
          group.addTask {
            var times: [Duration] = []
            for _ in 0..<50 {
              try await requestClock.sleep(for: .milliseconds(number))
              // Work that gives way in the middle must not be passed over.
              for _ in 0..<10 { await Task.yield() }
              times.append(requestClock.now())
            }
            return times
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    for times in times {
      let step = times[0]
      #expect(times == (1...50).map { step * $0 })
    }
    #expect(clock.now == .seconds(1))
  }

  @Test func `each of ten thousand sleepers wakes at its own time`() async throws {
    let clock = ManualClock()
    let requestClock = clock.requestClock
    let late = try await clock.run {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 1...10_000 {
          group.addTask {
            let time = Duration.milliseconds(number * 7_919 % 10_007)
            try await requestClock.sleep(for: time)
            return requestClock.now() != time
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
    #expect(late == 0)
    #expect(clock.sleeperCount == 0)
  }

  @TaskLocal private static var word = ""

  @Test func `the work has the caller's task-local values`() async throws {
    let word = try await ManualClockRunningTests.$word.withValue("hello") {
      try await ManualClock().run { ManualClockRunningTests.word }
    }
    #expect(word == "hello")
  }

  @Test func `a nested run leaves the outer run on its thread`() async throws {
    let threads = try await ManualClock().run {
      let outer = thread()
      _ = try await ManualClock().run { 1 }
      return [outer, await Task { thread() }.value, thread()]
    }
    #expect(Set(threads).count == 1)
  }

  @Test func `an error of the work ends the run, and so does a cancellation`() async throws {
    let clock = ManualClock()
    await #expect(throws: NetworkError.self) {
      try await clock.run { () async throws -> Int in
        try await clock.requestClock.sleep(for: .seconds(1))
        throw NetworkError(.timedOut, "as planned")
      }
    }
    #expect(clock.now == .seconds(1))
    let begun = TestGate()
    let running = Task {
      try await clock.run {
        begun.arrive()
        while !Task.isCancelled { await Task.yield() }
        throw CancellationError()
      }
    }
    await begun.waitForArrivals(1)
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
  }

  @Test func `a sleeper that is due after the run continues to sleep`() async throws {
    let clock = ManualClock()
    let waiting = Task { try await clock.requestClock.sleep(for: .seconds(11)) }
    await clock.waitForSleepers(1)
    await clock.run(for: .seconds(10))
    #expect(clock.sleeperCount == 1)
    #expect(clock.advanceToNextWait())
    try await waiting.value
    #expect(clock.now == .seconds(11))
    #expect(!clock.advanceToNextWait())
  }
}

/// The thread that asks.
private func thread() -> String { "\(pthread_self())" }
