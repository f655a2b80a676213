import Foundation
import RequestBehaviors
import TestSupport

/// Many clients that call one server at random times, in simulated time: a minute, an outage of a minute, a minute.
///
/// The decisions are those of the library's pure types; the parts between them do what the behaviors do.
struct Fleet {
  /// What the clients do about failures.
  struct Defence {
    var name: String
    var hasBudget = true
    var hasBreaker = false
    var isHedged = false
    /// Whether hedges go out under overload too.
    var hedgesBlindly = false

    static let none = Defence(name: "retries alone", hasBudget: false)
    static let budget = Defence(name: "with budget")
    static let breaker = Defence(name: "with budget and circuit breaker", hasBreaker: true)
    static let hedging = Defence(name: "with budget and hedging", isHedged: true)
    static let all = Defence(name: "with budget, circuit breaker and hedging", hasBreaker: true, isHedged: true)
    static let blind = Defence(name: "with budget, and hedging under overload", isHedged: true, hedgesBlindly: true)
  }

  private enum Event {
    case call(client: Int)
    case attempt(call: Int)
    case hedge(attempt: Int)
    case work
    case response(send: Int, isSuccess: Bool)
    case timeout(send: Int)
    case change(Outage?)
  }

  private struct Client {
    let budget = RetryBudget()
    var circuit = Circuit()
    var samples = LatencySamples()
    var signs = OverloadSigns()
  }

  private struct Call {
    let client: Int
    let start: Double
    var attempts = 0
  }

  private struct Attempt {
    let call: Int
    let start: Double
    var sends: [Int] = []
    var isOver = false
  }

  private struct Send {
    let attempt: Int
    let ticket: Circuit.Ticket?
    var isOver = false
  }

  /// The seconds after which an attempt is given up, and those after which a call is.
  private static let (timeout, deadline) = (5.0, 60.0)

  private let rate: Double
  private let defence: Defence
  private var random = SeededGenerator(seed: 7)
  private var events = EventQueue<Event>()
  private var now = 0.0
  private var server: FleetServer
  private var clients: [Client]
  private var calls: [Call] = []
  private var attempts: [Attempt] = []
  private var sends: [Send] = []
  private var report = FleetReport()

  /// Creates a fleet.
  ///
  /// - Parameters:
  ///   - count: How many clients there are.
  ///   - rate: How many calls each makes in a second.
  ///   - outage: What goes wrong with the server.
  ///   - defence: What the clients do about failures.
  init(_ count: Int, rate: Double, _ outage: Outage, _ defence: Defence) {
    self.rate = rate
    self.defence = defence
    clients = (0..<count).map { _ in Client() }
    server = FleetServer(load: rate * Double(count))
    events.add(.change(outage), at: Double(FleetReport.outage.lowerBound))
    events.add(.change(nil), at: Double(FleetReport.outage.upperBound))
    for client in clients.indices { events.add(.call(client: client), at: pause(rate)) }
  }

  /// Runs the three minutes, and as long as calls are under way.
  mutating func run() -> FleetReport {
    while let (time, event) = events.next() {
      now = time
      switch event {
      case .call(let client): begin(client)
      case .attempt(let call): attempt(call)
      case .hedge(let attempt): hedge(attempt)
      case .work: work()
      case .response(let send, let isSuccess): end(send, isSuccess)
      case .timeout(let send): end(send, false)
      case .change(let outage): server.change(to: outage)
      }
    }
    return report
  }

  private var time: Duration { .nanoseconds(Int64(now * 1e9)) }

  /// The time until the next of events that come so often in a second, by chance.
  private mutating func pause(_ rate: Double) -> Double { -log(1 - Double.random(in: 0..<1, using: &random)) / rate }

  private mutating func begin(_ client: Int) {
    guard now < Double(FleetReport.end) else { return }
    events.add(.call(client: client), at: now + pause(rate))
    calls.append(Call(client: client, start: now))
    report.addCall(at: now)
    attempt(calls.count - 1)
  }

  private mutating func attempt(_ call: Int) {
    calls[call].attempts += 1
    attempts.append(Attempt(call: call, start: now))
    let (attempt, client, time) = (attempts.count - 1, calls[call].client, time)
    clients[client].signs.noteRequest(at: time)
    guard send(attempt) else { return settle(attempt, isRefused: true) }
    guard defence.isHedged, let delay = clients[client].samples.percentile(0.95) else { return }
    events.add(.hedge(attempt: attempt), at: now + delay / .seconds(1))
  }

  private mutating func hedge(_ attempt: Int) {
    guard !attempts[attempt].isOver else { return }
    let (client, time) = (calls[attempts[attempt].call].client, time)
    clients[client].signs.noteLate(at: time)
    if !defence.hedgesBlindly {
      guard !clients[client].signs.arePresent(at: time), clients[client].budget.takeHedge(to: nil, at: time) else {
        return
      }
      clients[client].signs.noteHedge(at: time)
    }
    _ = send(attempt)
  }

  /// Sends a request unless the circuit is open; false if it is.
  private mutating func send(_ attempt: Int) -> Bool {
    let (client, time) = (calls[attempts[attempt].call].client, time)
    var ticket: Circuit.Ticket?
    if defence.hasBreaker {
      let admission = clients[client].circuit.admit(at: time, lease: .seconds(Fleet.timeout))
      guard case .go(let given) = admission else { return false }
      ticket = given
    }
    sends.append(Send(attempt: attempt, ticket: ticket))
    let send = sends.count - 1
    attempts[attempt].sends.append(send)
    report.addSend(at: now)
    events.add(.timeout(send: send), at: now + Fleet.timeout)
    switch server.admit(send) {
    case .refused: events.add(.response(send: send, isSuccess: false), at: now + 0.02)
    case .begun: events.add(.work, at: now + server.workTime)
    case .lost, .waits: break
    }
    return true
  }

  private mutating func work() {
    guard let (send, hasMore) = server.finish() else { return }
    // The way there and back, on which two of a hundred are lost and sent again by the network.
    let way = 0.02 + pause(50) + (Double.random(in: 0..<1, using: &random) < 0.02 ? 0.4 : 0)
    events.add(.response(send: send, isSuccess: true), at: now + way)
    if hasMore { events.add(.work, at: now + server.workTime) }
  }

  private mutating func end(_ send: Int, _ isSuccess: Bool) {
    guard !sends[send].isOver else { return }
    let attempt = sends[send].attempt
    let (client, time) = (calls[attempts[attempt].call].client, time)
    close(send, isSuccess ? .success : .failure, of: client)
    guard isSuccess else {
      if attempts[attempt].sends.allSatisfy({ sends[$0].isOver }) { settle(attempt) }
      return
    }
    for other in attempts[attempt].sends where !sends[other].isOver { close(other, .none, of: client) }
    clients[client].samples.add(.seconds(now - attempts[attempt].start))
    if attempts[attempt].sends.first != send { clients[client].signs.noteWin(at: time) }
    settle(attempt, isSuccess: true)
  }

  private mutating func close(_ send: Int, _ verdict: CircuitVerdict, of client: Int) {
    sends[send].isOver = true
    guard let ticket = sends[send].ticket else { return }
    let (time, chance) = (time, Double.random(in: 0...1, using: &random))
    clients[client].circuit.report(ticket, verdict, at: time, random: chance)
  }

  /// Ends an attempt, and plans the next one if policy and budget allow it.
  private mutating func settle(_ attempt: Int, isSuccess: Bool = false, isRefused: Bool = false) {
    attempts[attempt].isOver = true
    let (call, time) = (calls[attempts[attempt].call], time)
    let budget = clients[call.client].budget
    if call.attempts == 1 {
      budget.noteCall(to: nil, at: time, succeeded: isSuccess)
    } else if !isRefused {
      budget.noteRetry(to: nil, at: time, succeeded: isSuccess)
    }
    if isSuccess { return report.addSuccess(ofCallAt: call.start) }
    guard !isRefused else { return }
    clients[call.client].signs.noteFailure(at: time)
    guard call.attempts <= RetryPolicy.standard.maximumRetries else { return }
    let wait = Backoff().delay(beforeRetry: call.attempts, random: .random(in: 0...1, using: &random)) / .seconds(1)
    guard now + wait < call.start + Fleet.deadline else { return }
    guard !defence.hasBudget || budget.takeRetry(to: nil, at: time) else { return }
    events.add(.attempt(call: attempts[attempt].call), at: now + wait)
  }
}
