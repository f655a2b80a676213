import RequestBehaviors
import Testing

@Suite(.limited) struct BroadcastTests {
  @Test func `a subscriber that does not read keeps the latest events only`() async {
    let broadcast = Broadcast<Int>(limit: 64)
    let events = broadcast.subscribe()
    for number in 1...100 { broadcast.publish(number) }
    broadcast.finish()
    var read: [Int] = []
    for await number in events { read.append(number) }
    #expect(read == Array(37...100))
  }

  @Test func `each subscriber gets the events since it came, until the broadcast is released`() async {
    var broadcast: Broadcast<Int>? = Broadcast(limit: 64)
    let first = broadcast?.subscribe()
    broadcast?.publish(1)
    let second = broadcast?.subscribe()
    broadcast?.publish(2)
    broadcast = nil
    var (early, late): ([Int], [Int]) = ([], [])
    for await number in first ?? .finished { early.append(number) }
    for await number in second ?? .finished { late.append(number) }
    #expect(early == [1, 2])
    #expect(late == [2])
  }
}

extension AsyncStream {
  fileprivate static var finished: AsyncStream { AsyncStream { $0.finish() } }
}
