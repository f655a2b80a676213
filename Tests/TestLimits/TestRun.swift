import Dispatch
import Foundation
public import RequestBehaviors

/// The places of the tests that run at once, and the end of a run whose last tests hang.
public final class TestRun: Sendable {
  private struct Running {
    let name: String
    let limit: Duration
    let end: Duration
    var hasPlace = true
  }

  private struct State {
    var freePlaces: Int
    var lastID = 0
    var running: [Int: Running] = [:]
    var waiting: [Waiter<Void>] = []
  }

  /// The run of this process.
  ///
  /// More tests at once than there are processors, because many of them wait for a server or another process.
  public static let shared: TestRun = {
    let run = TestRun(places: max(8, 4 * ProcessInfo.processInfo.activeProcessorCount))
    run.endProcessWhenStuck()
    return run
  }()

  private let state: Locked<State>
  /// The clock of the tests' durations; that of the process has real time, because a hang has no other sign.
  let clock: RequestClock

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - places: How many tests run at once.
  ///   - clock: What tells how long tests run.
  public init(places: Int, clock: RequestClock = .system) {
    state = Locked(State(freePlaces: places))
    self.clock = clock
  }

  /// Waits for a place.
  ///
  /// - Parameters:
  ///   - name: The name of the test.
  ///   - limit: How long it may take.
  /// - Returns: Its number.
  /// - Throws: `CancellationError` if the task was cancelled before there was a place.
  func begin(_ name: String, limit: Duration) async throws -> Int {
    let waiter = state.withLock { state -> Waiter<Void>? in
      guard state.freePlaces == 0 else {
        state.freePlaces -= 1
        return nil
      }
      let waiter = Waiter<Void>()
      state.waiting.append(waiter)
      return waiter
    }
    try await waiter?.value()
    return state.withLock { state in
      state.lastID += 1
      state.running[state.lastID] = Running(name: name, limit: limit, end: clock.now() + limit)
      return state.lastID
    }
  }

  /// How many tests wait for a place.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Gives the place of a test to another one, although the test has not ended.
  func giveUp(_ id: Int) {
    state.withLock { state in
      guard state.running[id]?.hasPlace == true else { return }
      state.running[id]?.hasPlace = false
      TestRun.givePlace(&state)
    }
  }

  /// Ends a test.
  func end(_ id: Int) {
    state.withLock { state in
      guard state.running.removeValue(forKey: id)?.hasPlace == true else { return }
      TestRun.givePlace(&state)
    }
  }

  private static func givePlace(_ state: inout State) {
    while !state.waiting.isEmpty {
      // A test that was cancelled does not take it.
      if state.waiting.removeFirst().settle(.success(())) { return }
    }
    state.freePlaces += 1
  }

  /// The tests that hang, if no other test runs.
  ///
  /// A test has some time after its limit to answer its cancellation. A test that waits does not count: it gets a place
  /// at once where threads are left to run it.
  ///
  /// - Returns: A line for each test; empty as long as another one may end.
  func stuckTests() -> [String] {
    let now = clock.now()
    return state.withLock { state in
      let running = state.running.sorted { $0.key < $1.key }.map(\.value)
      guard running.allSatisfy({ now > $0.end + .seconds(15) }) else { return [] }
      return running.map { "\($0.name) did not end within its limit of \($0.limit)" }
    }
  }

  /// Looks from a thread of its own, because tests may block all threads of tasks.
  private func endProcessWhenStuck() {
    Thread.detachNewThread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 1)
        let stuck = stuckTests()
        guard !stuck.isEmpty else { continue }
        FileHandle.standardError.write(Data("\nerror: the run ends here: \(stuck.joined(separator: "; "))\n".utf8))
        fflush(nil)
        _exit(1)
      }
    }
  }
}
