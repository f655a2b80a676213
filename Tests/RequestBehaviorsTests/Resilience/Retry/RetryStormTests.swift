import RequestBehaviors
import TestSupport
import Testing

/// Many clients against a server that fails for a minute, in simulated time: how many requests reach it.
@Suite struct RetryStormTests {
  /// What the clients do about failures.
  private struct Defence {
    var hasBudget = true
    var hasBreaker = true
  }

  /// Requests that reached the server during its outage, and calls that were made.
  private struct Load {
    var calls = 0
    var sends = 0
    var amplification: Double { Double(sends) / Double(calls) }
  }

  private struct Client {
    var circuit = Circuit()
    let budget = RetryBudget()
  }

  private static let tick = Duration.milliseconds(100)
  private static let outage = 600..<1_200

  /// Simulates 200 clients that each make a call a second for three minutes, of which the server fails in the second.
  private func load(_ defence: Defence) -> Load {
    var random = SeededGenerator(seed: 7)
    var clients = (0..<200).map { _ in Client() }
    // The attempts of each tick, by client and number of the attempt; the first ones are spread over a second.
    var attempts = [[(client: Int, number: Int)]](repeating: [], count: 2_400)
    for client in clients.indices {
      let phase = Int.random(in: 0..<10, using: &random)
      for second in 0..<180 { attempts[second * 10 + phase].append((client, 1)) }
    }
    var load = Load()
    let backoff = Backoff()
    for now in 0..<1_800 {
      var sends = 0
      let time = Self.tick * now
      let isDown = Self.outage.contains(now)
      for (index, number) in attempts[now] {
        if isDown, number == 1 { load.calls += 1 }
        if number == 1 { clients[index].budget.noteCall(to: nil, at: time) }
        var ticket: Circuit.Ticket?
        if defence.hasBreaker {
          guard case .go(let admitted) = clients[index].circuit.admit(at: time) else { continue }
          ticket = admitted
        }
        sends += 1
        if let ticket {
          let chance = Double.random(in: 0...1, using: &random)
          clients[index].circuit.report(ticket, isDown ? .failure : .success, at: time, random: chance)
        }
        guard isDown, number <= 3 else { continue }
        if defence.hasBudget, !clients[index].budget.takeRetry(to: nil, at: time) { continue }
        let wait = backoff.delay(beforeRetry: number, random: .random(in: 0...1, using: &random))
        attempts[now + max(1, Int(wait / Self.tick))].append((index, number + 1))
      }
      if isDown { load.sends += sends }
    }
    return load
  }

  @Test func `with all defences a failing server gets no more than 1.2 requests a call`() {
    let load = load(Defence())
    #expect(load.amplification <= 1.2)
  }

  @Test func `without budget and breaker it gets four, and each of them alone brings it down`() {
    let bare = load(Defence(hasBudget: false, hasBreaker: false))
    #expect(bare.amplification > 3.5)
    let budget = load(Defence(hasBreaker: false))
    let breaker = load(Defence(hasBudget: false))
    #expect(budget.amplification < bare.amplification / 2)
    #expect(breaker.amplification < 1)
  }
}
