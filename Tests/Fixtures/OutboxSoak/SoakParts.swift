import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport

/// The base URL of a server that is in this process.
let soakURL = URL(string: "https://api.example.com") ?? URL(filePath: "/")

/// A folder that is removed with the value.
final class SoakFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "OutboxSoak-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

/// A clock on which a second takes a millisecond, and whose date can be set.
final class FastClock: Sendable {
  private static let speed = 1_000
  private let start = ContinuousClock.now
  private let shift = Locked(TimeInterval(0))

  private var now: Duration { start.duration(to: .now) * Self.speed }

  var requestClock: RequestClock {
    RequestClock(
      now: { self.now },
      date: { Date(timeIntervalSince1970: 1_577_836_800 + self.now / .seconds(1) + self.shift.withLock { $0 }) },
      sleep: { try await ContinuousClock().sleep(for: $0 / Self.speed) })
  }

  /// Sets the date forward or back.
  func moveDate(by interval: TimeInterval) { shift.withLock { $0 += interval } }
}

/// An operation of a user: it sets a register, or is appended to a lane or to the rest.
struct Step: OutboxOperation {
  static let name = "step"
  var user: String
  var number: Int
  var lane: String?
  var register: String?
  /// Whether the server refuses it for good.
  var isWrong = false
  var delivery: OutboxDelivery { OutboxDelivery(lane: lane, identity: register, repeats: .replaced) }

  static let delivered = SQLiteMigration("delivered") { db in
    try db.execute("CREATE TABLE delivered (number INTEGER NOT NULL)")
  }

  func request(in db: Database) -> Request<Void> { .post("steps", body: .json(self)) }

  func delivered(_ value: Void, in db: Database) throws {
    try db.execute("INSERT INTO delivered VALUES (\(number))")
  }
}

/// A server that carries out each key once, over a network that a seed makes bad.
final class StepServer: Transport {
  enum Quality: CaseIterable, Sendable {
    case good, bad, portal
  }

  struct State: Sendable {
    var random: SeededGenerator
    var quality = Quality.good
    /// The steps that were carried out, in order.
    var steps: [Step] = []
    var sends = 0
    /// The requests that carried another user's token.
    var underAnothersToken = 0
    var faults: [String] = []
    fileprivate var numbers: [String: Int] = [:]
    fileprivate var done: Set<Int> = []
  }

  private let state: Locked<State>
  private let clock: RequestClock

  init(seed: UInt64, clock: RequestClock) {
    state = Locked(State(random: SeededGenerator(seed: seed)))
    self.clock = clock
  }

  var current: State { state.withLock { $0 } }

  func set(_ quality: Quality) { state.withLock { $0.quality = quality } }

  fileprivate enum Answer {
    case status(Int, isGenuine: Bool)
    case lost(NetworkError.Code)
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let step = try request.json(Step.self)
    let token = request.headers["Authorization"] ?? "no token"
    let turns = state.withLock { Int.random(in: 0..<4, using: &$0.random) }
    for _ in 0..<turns { await Task.yield() }
    let answer = state.withLock { $0.receive(step, token, request.headers["Idempotency-Key"] ?? "none") }
    if turns == 3 { try await clock.sleep(for: .milliseconds(300)) }
    switch answer {
    case .lost(let code): throw NetworkError(code, "the soak", request: request)
    case .status(let status, let isGenuine):
      var response = NetworkResponse(request: request, statusCode: status)
      if isGenuine { response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"] }
      if status == 429 { response.headers["Retry-After"] = "2" }
      return response
    }
  }

  func shutdown() async {}
}

extension StepServer.State {
  fileprivate mutating func receive(_ step: Step, _ token: String, _ key: String) -> StepServer.Answer {
    sends += 1
    if token != "Bearer \(step.user)" {
      underAnothersToken += 1
      faults.append("the step \(step.number) of \(step.user) carried \(token)")
    }
    let chance = quality == .good ? 100 : Int.random(in: 0..<100, using: &random)
    if quality == .portal, chance < 90 { return .status([200, 204, 302, 403, 511][chance % 5], isGenuine: false) }
    switch chance {
    case 0..<4: return .lost(.cannotConnect)
    case 4..<10: return .lost(.connectionLost)
    case 10..<15: return .status(503, isGenuine: true)
    case 15..<18: return .status(429, isGenuine: true)
    case 18..<21: return .status(502, isGenuine: false)
    default: break
    }
    if step.isWrong { return .status(422, isGenuine: true) }
    carryOut(step, key)
    switch chance {
    case 21..<28: return .lost(.connectionLost)
    case 28..<32: return .lost(.timedOut)
    default: return .status(200, isGenuine: true)
    }
  }

  private mutating func carryOut(_ step: Step, _ key: String) {
    if let before = numbers.updateValue(step.number, forKey: key), before != step.number {
      faults.append("the key \(key) has the steps \(before) and \(step.number)")
    }
    if done.insert(step.number).inserted { steps.append(step) }
  }
}
