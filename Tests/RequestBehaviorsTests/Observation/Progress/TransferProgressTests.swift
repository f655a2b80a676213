import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct TransferProgressTests {
  private typealias State = TransferProgress.State

  private func state(_ attempt: Int, sent: Int64 = 0, of toSend: Int64? = nil, received: Int64 = 0) -> State {
    var state = State()
    (state.attempt, state.sent, state.expectedToSend, state.received) = (attempt, sent, toSend, received)
    return state
  }

  @Test func `a reader gets every state that it waits for, and ends with the finished one`() async {
    let progress = TransferProgress()
    var states = progress.states.makeAsyncIterator()
    let attempt = progress.begin(sending: 10)
    #expect(await states.next() == state(1, of: 10))
    attempt.sent(4)
    #expect(await states.next() == state(1, sent: 4, of: 10))
    attempt.received(7)
    #expect(await states.next() == state(1, sent: 4, of: 10, received: 7))
    progress.finish()
    #expect(await states.next()?.isFinished == true)
    #expect(await states.next() == nil)
  }

  @Test func `a reader that is slow gets the latest state`() async {
    let progress = TransferProgress()
    var states = progress.states.makeAsyncIterator()
    let attempt = progress.begin(sending: nil)
    for count in 1...1_000 { attempt.received(Int64(count), of: 1_000) }
    let seen = await states.next()
    #expect(seen?.received == 1_000)
    #expect(seen?.fractionReceived == 1)
    progress.finish()
    #expect(await states.next()?.received == 1_000)
    #expect(await states.next() == nil)
  }

  @Test func `a reader that waits is woken by a change, and several get the same`() async {
    let progress = TransferProgress()
    async let first = progress.states.first { $0.received == 3 }
    async let second = progress.states.first { $0.isFinished }
    let attempt = progress.begin(sending: 0)
    attempt.received(3)
    #expect(await first?.received == 3)
    progress.finish()
    #expect(await second?.received == 3)
  }

  @Test func `a reader whose task is cancelled stops waiting`() async {
    let progress = TransferProgress()
    let reader = Task { await progress.states.reduce(0) { count, _ in count + 1 } }
    reader.cancel()
    #expect(await reader.value == 0)
  }

  @Test func `a further transmission starts at zero as a new attempt, and the earlier one no longer counts`() {
    let progress = TransferProgress()
    let first = progress.begin(sending: 10)
    first.sent(10)
    first.received(5, of: 9)
    let second = progress.begin(sending: 10)
    #expect(progress.state == state(2, of: 10))
    first.received(6)
    #expect(progress.state == state(2, of: 10))
    second.sent(1)
    #expect(progress.state == state(2, sent: 1, of: 10))
  }

  @Test func `bytes after the end are not counted`() {
    let progress = TransferProgress()
    let attempt = progress.begin(sending: nil)
    progress.finish()
    attempt.received(1)
    #expect(progress.state.received == 0)
    progress.begin(sending: nil).received(1)
    #expect(progress.state.attempt == 1)
    #expect(progress.state.received == 0)
    #expect(progress.state.isFinished)
  }

  @Test(arguments: [(Int64(0), Int64?(10), Double?(0)), (5, 10, 0.5), (11, 10, 1), (3, nil, nil), (0, 0, 1)])
  func `a fraction needs a length`(count: Int64, expected: Int64?, fraction: Double?) {
    let progress = TransferProgress()
    progress.begin(sending: nil).received(count, of: expected)
    progress.begin(sending: expected).sent(count)
    #expect(progress.state.fractionSent == fraction)
    #expect(progress.state.fractionReceived == nil)
  }

  @Test func `a closure is called on the main actor, with the latest state`() async {
    let seen = Box<[State]>([])
    let finished = TestGate()
    let progress = TransferProgress { state in
      MainActor.assertIsolated()
      seen.update { $0.append(state) }
      if state.isFinished { finished.open() }
    }
    let attempt = progress.begin(sending: nil)
    for count in 1...1_000 { attempt.received(Int64(count)) }
    progress.finish()
    await finished.pass()
    #expect(seen.value.last?.received == 1_000)
    #expect(seen.value.map(\.received) == seen.value.map(\.received).sorted())
  }
}
