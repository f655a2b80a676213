import Testing

// Which keys a table remembers shows nowhere else but in the memory of a program of many.
@testable import RequestBehaviors

@Suite(.limited) struct KeyedStatesTests {
  private let counts = KeyedStates<Int, Int> { 0 }

  /// Adds one to the state of a key, where states of zero count as idle.
  private func add(_ addend: Int, to key: Int) { counts.state(of: key) { $1 == 0 }.withLock { $0 += addend } }

  @Test func `each key has its own state, which is kept`() {
    add(1, to: 1)
    add(2, to: 2)
    add(3, to: 1)
    #expect(counts.knownState(of: 1)?.withLock { $0 } == 4)
    #expect(counts.knownState(of: 2)?.withLock { $0 } == 2)
    #expect(counts.knownState(of: 3) == nil)
  }

  @Test func `if there are many states the idle ones are removed, the others never`() {
    for key in 0..<10_000 { add(key.isMultiple(of: 100) ? 1 : 0, to: key) }
    #expect(counts.all.count < 1_000)
    for key in stride(from: 0, to: 10_000, by: 100) { #expect(counts.knownState(of: key)?.withLock { $0 } == 1) }
  }

  @Test func `removed states start again, also the most recent one`() {
    add(1, to: 1)
    add(1, to: 2)
    counts.removeAll()
    add(3, to: 2)
    add(3, to: 1)
    #expect(counts.knownState(of: 1)?.withLock { $0 } == 3)
    #expect(counts.knownState(of: 2)?.withLock { $0 } == 3)
  }

  @Test func `a state in use is not removed, so that changes of it count`() {
    let held = counts.state(of: -1) { $1 == 0 }
    for key in 0..<10_000 { add(0, to: key) }
    held.withLock { $0 = 7 }
    #expect(counts.knownState(of: -1)?.withLock { $0 } == 7)
  }

  @Test func `the cost of a key does not grow with the number of keys in use`() {
    var looks = 0
    for key in 0..<10_000 {
      counts.state(of: key) { _, _ in
        looks += 1
        return false
      }.withLock { $0 = 1 }
    }
    #expect(counts.all.count == 10_000)
    #expect(looks < 20_000)
  }

  @Test func `tasks that change one state together lose no change`() async {
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { for step in 0..<1_000 { add(1, to: step % 2) } } }
    }
    #expect(counts.all.map { $0.state.withLock { $0 } } == [4_000, 4_000])
  }
}
