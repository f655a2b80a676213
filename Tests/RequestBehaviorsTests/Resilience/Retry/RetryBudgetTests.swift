import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct RetryBudgetTests {
  private let origin = Origin("https://h")

  private func taken(_ budget: RetryBudget, of count: Int, at now: Duration) -> Int {
    (0..<count).count { _ in budget.takeRetry(to: origin, at: now) }
  }

  @Test func `retries are a fifth of the calls besides the reserve`() {
    let budget = RetryBudget(ratio: 0.2, reserve: 3)
    for _ in 0..<100 { budget.noteCall(to: origin, at: .zero) }
    #expect(taken(budget, of: 100, at: .seconds(1)) == 23)
  }

  @Test func `a client with few calls has the reserve only, again in each window`() {
    let budget = RetryBudget(ratio: 0.2, reserve: 3)
    budget.noteCall(to: origin, at: .zero)
    #expect(taken(budget, of: 10, at: .zero) == 3)
    #expect(taken(budget, of: 10, at: .seconds(9)) == 0)
    #expect(taken(budget, of: 10, at: .seconds(10)) == 3)
  }

  @Test func `by default the reserve is one retry in ten seconds`() {
    let budget = RetryBudget()
    #expect(taken(budget, of: 10, at: .zero) == 1)
    #expect(taken(budget, of: 10, at: .seconds(10)) == 1)
  }

  @Test func `after a retry that failed the reserve comes back with the next success only`() {
    let budget = RetryBudget(ratio: 0, reserve: 2)
    #expect(taken(budget, of: 1, at: .zero) == 1)
    budget.noteRetry(to: origin, at: .seconds(1), succeeded: false)
    // The unused part of the reserve remains.
    #expect(taken(budget, of: 10, at: .seconds(2)) == 1)
    budget.noteCall(to: origin, at: .seconds(60))
    #expect(taken(budget, of: 10, at: .seconds(60)) == 0)
    budget.noteCall(to: origin, at: .seconds(70), succeeded: true)
    #expect(taken(budget, of: 10, at: .seconds(70)) == 2)
  }

  @Test func `a retry that succeeds gives the reserve back after the window`() {
    let budget = RetryBudget(ratio: 0, reserve: 1)
    #expect(taken(budget, of: 1, at: .zero) == 1)
    budget.noteRetry(to: origin, at: .zero, succeeded: false)
    budget.noteRetry(to: origin, at: .zero, succeeded: true)
    #expect(taken(budget, of: 1, at: .seconds(9)) == 0)
    #expect(taken(budget, of: 1, at: .seconds(10)) == 1)
  }

  @Test func `an outage of any length costs a client the reserve and its share`() {
    let budget = RetryBudget()
    var retries = 0
    for second in 0..<600 {
      budget.noteCall(to: origin, at: .seconds(second))
      guard budget.takeRetry(to: origin, at: .seconds(second)) else { continue }
      retries += 1
      budget.noteRetry(to: origin, at: .seconds(second), succeeded: false)
    }
    #expect(retries <= 600 / 5 + 1)
    #expect(retries >= 600 / 5 - 2)
  }

  @Test func `hedges have no reserve, and share the rest with retries`() {
    let budget = RetryBudget(ratio: 0.2, reserve: 5)
    for _ in 0..<4 { budget.noteCall(to: origin, at: .zero) }
    #expect(!budget.takeHedge(to: origin, at: .zero))
    for _ in 0..<6 { budget.noteCall(to: origin, at: .zero) }
    #expect(budget.takeHedge(to: origin, at: .zero))
    #expect(budget.takeHedge(to: origin, at: .zero))
    #expect(!budget.takeHedge(to: origin, at: .zero))
    #expect(taken(budget, of: 10, at: .zero) == 5)
    #expect(RetryBudget.unlimited.takeHedge(to: origin, at: .zero))
  }

  @Test func `calls older than the window expire, one slot after another`() {
    let budget = RetryBudget(ratio: 1, reserve: 0)
    for second in 0..<10 { budget.noteCall(to: origin, at: .seconds(second)) }
    #expect(taken(budget, of: 20, at: .seconds(14)) == 5)
  }

  @Test func `each origin has its own budget, and a reset refills it`() async {
    let budget = RetryBudget(ratio: 0, reserve: 1)
    #expect(budget.takeRetry(to: origin, at: .zero))
    #expect(budget.takeRetry(to: Origin("https://other"), at: .zero))
    #expect(budget.takeRetry(to: nil, at: .zero))
    #expect(!budget.takeRetry(to: origin, at: .zero))
    budget.reset()
    #expect(budget.takeRetry(to: origin, at: .zero))
  }

  @Test func `an unlimited budget never refuses, and a window of zero does not trap`() {
    #expect(taken(.unlimited, of: 1_000, at: .zero) == 1_000)
    let none = RetryBudget(ratio: 1, reserve: 1, window: .zero)
    none.noteCall(to: origin, at: .zero)
    #expect(none.takeRetry(to: origin, at: .seconds(1)))
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `over many origins and hours a budget never allows more than its share in any window`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let budget = RetryBudget(ratio: 0.2, reserve: 3)
    var (calls, retries): ([Duration], [Duration]) = ([], [])
    var now = Duration.zero
    for step in 0..<20_000 {
      now += .milliseconds(Int.random(in: 0...200, using: &random))
      if Bool.random(using: &random) {
        budget.noteCall(to: origin, at: now)
        calls.append(now)
      } else if budget.takeRetry(to: origin, at: now) {
        retries.append(now)
        let recent = retries.suffix(200).count { now - $0 < .seconds(9) }
        let allowed = 3 + 0.2 * Double(calls.suffix(400).count { now - $0 < .seconds(11) })
        #expect(Double(recent) <= allowed, "at step \(step)")
      }
      if step.isMultiple(of: 7) { budget.noteCall(to: Origin("https://h\(step)"), at: now) }
    }
    #expect(retries.count > 100)
  }
}
