import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Random runs, compared with what a list would do that has one user, one server and no failures.
@Suite(.limited) struct OutboxModelTests {
  /// Sets a register of a user, or appends to a lane.
  private struct Step: OutboxOperation {
    static let name = "step"
    var user: String
    var number: Int
    var lane: String?
    var register: String?
    var delivery: OutboxDelivery { OutboxDelivery(lane: lane, identity: register, repeats: .replaced) }

    func request(in db: Database) -> Request<Void> { .post("steps", body: .json(self)) }
  }

  /// A server that knows keys, behind a bad network.
  private struct Server: @unchecked Sendable {
    // Used under a lock; the generator is not Sendable.
    var random: SeededGenerator
    var isGood = false
    var numbers: [Int] = []
    var keys: [String: Int] = [:]
    var registers: [String: Int] = [:]
    var faults: [String] = []

    /// Carries a request out once, and returns the status; nil for a response that is lost.
    mutating func receive(_ step: Step, _ request: NetworkRequest) -> Int? {
      let chance = isGood ? 9 : Int.random(in: 0..<10, using: &random)
      if chance == 0 { return nil }
      if chance == 1 { return 503 }
      let key = request.headers["Idempotency-Key"] ?? "none"
      if request.headers["Authorization"] != "Bearer \(step.user)" { faults.append("\(step) by another user") }
      if let before = keys.updateValue(step.number, forKey: key), before != step.number {
        faults.append("\(key) has two values")
      }
      if !numbers.contains(step.number) {
        numbers.append(step.number)
        if let register = step.register { registers[step.user + register] = step.number }
      }
      return chance == 2 ? nil : 200
    }
  }

  /// How many random steps each run has; more with the variable OUTBOX_STEPS.
  private static let steps = Int(ProcessInfo.processInfo.environment["OUTBOX_STEPS"] ?? "") ?? 400

  /// The seeds of the runs; one only with the variable OUTBOX_SEED.
  private static let seeds: [UInt64] =
    UInt64(ProcessInfo.processInfo.environment["OUTBOX_SEED"] ?? "").map { [$0] } ?? [1, 2, 3]

  @Test(arguments: seeds)
  func `random steps with failures leave the result of one user without failures`(seed: UInt64) async throws {
    let server = Shared(Server(random: SeededGenerator(seed: seed &* 77)))
    let world = try OutboxWorld { request in
      let step = try request.json(Step.self)
      guard let status = server.change({ $0.receive(step, request) }) else {
        throw NetworkError(.connectionLost, "a test", request: request)
      }
      return (status, "")
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let client = world.client([.tokenAuth(session)])
    var random = SeededGenerator(seed: seed)
    var outboxes = [try await world.outbox(client, operations: [Step.self])]
    var (user, number, lanes, registers): (String, Int, [String: [Int]], [String: Int]) = ("a", 0, [:], [:])
    try await session.signIn(AccessToken(user), as: user)
    for _ in 0..<Self.steps {
      let outbox = outboxes[Int.random(in: 0..<outboxes.count, using: &random)]
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<4:
        number += 1
        let lane = ["x", "y", nil][Int.random(in: 0..<3, using: &random)]
        try await outbox.enqueue(Step(user: user, number: number, lane: lane))
        lanes[user + (lane ?? "none"), default: []].append(number)
      case 4..<6:
        number += 1
        let register = "r\(Int.random(in: 0..<3, using: &random))"
        try await outbox.enqueue(Step(user: user, number: number, register: register))
        registers[user + register] = number
      case 6..<8: try await outbox.drain()
      case 8: world.clock.advance(by: .seconds(Int.random(in: 1...700, using: &random)))
      case 9:
        let jump = Double.random(in: -9_000...9_000, using: &random)
        world.clock.setDate(world.clock.date.addingTimeInterval(jump))
      case 10:
        user = user == "a" ? "b" : "a"
        try await session.signIn(AccessToken(user), as: user)
      default:
        // Another object on the file, or a restart.
        let new = try await world.outbox(client, operations: [Step.self])
        outboxes = outboxes.count > 1 ? [new] : outboxes + [new]
      }
    }
    server.change { $0.isGood = true }
    for user in ["a", "b"] {
      try await session.signIn(AccessToken(user), as: user)
      world.clock.advance(by: .seconds(86_400))
      #expect(try await outboxes[0].drain().waiting == 0)
    }
    let end = server.value
    #expect(end.faults == [])
    #expect(end.registers == registers)
    for (lane, numbers) in lanes {
      let arrived = end.numbers.filter(numbers.contains)
      #expect(lane.hasSuffix("none") ? arrived.sorted() == numbers : arrived == numbers)
    }
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE state <> 5") == 0)
  }

  // MARK: Plans

  @Test func `claiming and settling read no more entries than they change`() async throws {
    let statements = Shared<Set<String>>([])
    let folder = try TemporaryFolder()
    let configuration = SQLiteConfiguration(trace: { event in
      statements.change { _ = $0.insert(event.sql) }
    })
    let store = try SQLiteStore(path: folder.file(), configuration: configuration, migrations: [OutboxWorld.notes])
    let world = try OutboxWorld()
    let outbox = try await Outbox(store, client: world.client(), operations: [Ping.self])
    for number in 1...10 {
      try await outbox.enqueue(Ping(number: number, lane: number < 5 ? "a" : nil, identity: "i\(number)"))
    }
    statements.value = []
    try await outbox.drain()
    let used = statements.value.filter { $0.contains("outbox_entry") && !$0.contains("GROUP BY") }
    #expect(used.count > 5)
    for sql in used {
      let count = sql.count { $0 == "?" }
      let plan = try await store.write { db in
        try db.query(
          SQL(verbatim: "EXPLAIN QUERY PLAN " + sql, arguments: Array(repeating: SQLValue.integer(1), count: count))
        ) { row in try row["detail"] as String }
      }
      #expect(!plan.contains { $0.contains("SCAN outbox_entry") }, "\(sql): \(plan)")
      #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
    }
  }
}
