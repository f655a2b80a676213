import Testing

// Which keys a table remembers shows nowhere else but in the memory of a program of many.
@testable import RequestBehaviors

@Suite(.limited) struct KeyedStatesTests {
  private let counts = KeyedStates<Int, Int> { 0 }

  /// Adds one to the state of a key, where states of zero count as idle.
  private func add(_ addend: Int, to key: Int) { counts.state(of: key) { $1 == 0 }.withLock { $0 += addend } }

  @Test func `each key has a state of its own, which lasts`() {
    add(1, to: 1)
    add(2, to: 2)
    add(3, to: 1)
    #expect(counts.knownState(of: 1)?.withLock { $0 } == 4)
    #expect(counts.knownState(of: 2)?.withLock { $0 } == 2)
    #expect(counts.knownState(of: 3) == nil)
  }

  @Test func `idle states are forgotten when there are many, the others never`() {
    for key in 0..<10_000 { add(key.isMultiple(of: 100) ? 1 : 0, to: key) }
    #expect(counts.all.count < 1_000)
    for key in stride(from: 0, to: 10_000, by: 100) { #expect(counts.knownState(of: key)?.withLock { $0 } == 1) }
  }

  @Test func `removed states begin anew, also the one that was asked for last`() {
    add(1, to: 1)
    add(1, to: 2)
    counts.removeAll()
    add(3, to: 2)
    add(3, to: 1)
    #expect(counts.knownState(of: 1)?.withLock { $0 } == 3)
    #expect(counts.knownState(of: 2)?.withLock { $0 } == 3)
  }

  @Test func `a state that somebody holds is not forgotten, so that what is noted in it counts`() {
    let held = counts.state(of: -1) { $1 == 0 }
    for key in 0..<10_000 { add(0, to: key) }
    held.withLock { $0 = 7 }
    #expect(counts.knownState(of: -1)?.withLock { $0 } == 7)
  }

  @Test func `a program of many keys in use does not look at all of them for each`() {
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

  @Test func `tasks that change one state together lose nothing`() async {
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { for step in 0..<1_000 { add(1, to: step % 2) } } }
    }
    #expect(counts.all.map { $0.state.withLock { $0 } } == [4_000, 4_000])
  }
}
