import RequestBehaviors
import TestSupport

/// Many clients against a server that fails for a minute, in simulated time: how many requests reach it.
///
/// Each client makes a call a second for three minutes, of which the server fails in the second. All call in the same
/// tenth of a second, as clients do that poll by the wall clock. The decisions are those of the library's pure types.
struct Simulation {
  /// What the clients do about failures.
  struct Defence {
    var name: String
    var backoff = Backoff()
    var hasBudget = false
    var hasBreaker = false

    static let none = Defence(name: "retries alone")
    static let noJitter = Defence(name: "retries alone, without jitter", backoff: Backoff(jitter: .none))
    static let budget = Defence(name: "with budget", hasBudget: true)
    static let breaker = Defence(name: "with circuit breaker", hasBreaker: true)
    static let all = Defence(name: "with budget and circuit breaker", hasBudget: true, hasBreaker: true)
  }

  /// What reached the server.
  struct Load {
    /// The requests of each second.
    var perSecond = [Int](repeating: 0, count: Simulation.seconds)
    /// The most requests of a tenth of a second during the outage.
    var peak = 0
    /// The calls made during the outage.
    var calls = 0
    /// The requests sent during the outage.
    var sends = 0
    /// The requests for each call, during the outage.
    var amplification: Double { Double(sends) / Double(max(calls, 1)) }
    /// The seconds after the outage until a second brought as many requests as calls again.
    var recovery: Int {
      let usual = perSecond[0]
      let after = perSecond[Simulation.outage.upperBound...]
      return after.firstIndex { $0 == usual }.map { $0 - after.startIndex } ?? after.count
    }
  }

  private struct Client {
    var circuit = Circuit()
    let budget = RetryBudget()
  }

  static let seconds = 180
  static let outage = 60..<120
  private static let tick = Duration.milliseconds(100)
  private static let maximumRetries = RetryPolicy.standard.maximumRetries

  /// Runs the three minutes.
  ///
  /// - Parameters:
  ///   - count: How many clients there are.
  ///   - defence: What they do about failures.
  /// - Returns: What reached the server.
  static func run(clients count: Int, _ defence: Defence) -> Load {
    var random = SeededGenerator(seed: 7)
    var clients = (0..<count).map { _ in Client() }
    var retries = [[(client: Int, number: Int)]](repeating: [], count: seconds * 10)
    var load = Load()
    for now in 0..<seconds * 10 {
      let isDown = outage.contains(now / 10)
      // The calls of a second come in its first tenth; retries come when their wait is over.
      let calls = now % 10 == 0 ? clients.indices.map { (client: $0, number: 1) } : []
      let time = tick * now
      var sends = 0
      for (client, number) in calls + retries[now] {
        if number == 1 { clients[client].budget.noteCall(to: nil, at: time, succeeded: !isDown) }
        guard send(from: &clients[client], defence, isDown, at: time, &random) else { continue }
        sends += 1
        if number > 1 { clients[client].budget.noteRetry(to: nil, at: time, succeeded: !isDown) }
        guard isDown, number <= maximumRetries else { continue }
        if defence.hasBudget, !clients[client].budget.takeRetry(to: nil, at: time) { continue }
        let wait = defence.backoff.delay(beforeRetry: number, random: .random(in: 0...1, using: &random))
        let then = now + max(1, Int((wait / tick).rounded()))
        if retries.indices.contains(then) { retries[then].append((client, number + 1)) }
      }
      load.perSecond[now / 10] += sends
      guard isDown else { continue }
      load.calls += calls.count
      load.sends += sends
      load.peak = max(load.peak, sends)
    }
    return load
  }

  /// Sends a request unless the circuit is open; false if it is.
  private static func send(
    from client: inout Client, _ defence: Defence, _ isDown: Bool, at time: Duration,
    _ random: inout SeededGenerator
  ) -> Bool {
    guard defence.hasBreaker else { return true }
    guard case .go(let ticket) = client.circuit.admit(at: time) else { return false }
    let chance = Double.random(in: 0...1, using: &random)
    client.circuit.report(ticket, isDown ? .failure : .success, at: time, random: chance)
    return true
  }
}
