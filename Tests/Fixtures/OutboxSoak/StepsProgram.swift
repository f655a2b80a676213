import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import TestSupport

/// Random steps of an app, with two outboxes that send meanwhile, compared with a list.
struct StepsProgram {
  /// The number of steps after which everything must have arrived, and a new world begins.
  private static let stepsOfRound = 2_000

  let count: Int
  let seed: UInt64

  func run() async throws {
    let time = Stopwatch()
    var (left, round, arrived, sends) = (count, seed, 0, 0)
    while left > 0 {
      let steps = min(left, Self.stepsOfRound)
      do {
        let world = try await StepsWorld(seed: round)
        try await world.run(steps: steps)
        let end = try await world.end()
        (arrived, sends) = (arrived + end.steps.count, sends + end.sends)
      } catch {
        print("it fails; to run it alone: OutboxSoak steps \(steps) \(round)")
        throw error
      }
      (left, round) = (left - steps, round + 1)
    }
    print(
      "steps: \(count), seeds from \(seed), \(arrived) operations arrived by \(sends) sends, 0 faults, \(time.text)")
  }
}

/// One file, one session, and the outboxes of a round.
final class StepsWorld {
  private static let users = ["anna", "bob"]

  private let clock = FastClock()
  private let server: StepServer
  private let folder: SoakFolder
  private let store: SQLiteStore
  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the soak") })
  private let client: NetworkClient
  private var outboxes: [Outbox] = []
  private var random: SeededGenerator
  private var model = StepsModel()
  private var user = "anna"
  private var last = 0

  init(seed: UInt64) async throws {
    random = SeededGenerator(seed: seed)
    server = StepServer(seed: seed &* 77, clock: clock.requestClock)
    folder = try SoakFolder()
    // A disk that is waited for takes most of the time, and shows nothing here that memory does not.
    let path = seed % 10 == 0 ? folder.file("store.sqlite") : ":memory:"
    store = try SQLiteStore(path: path, migrations: [Step.delivered])
    var configuration = RequestConfiguration(
      baseURL: soakURL, behaviors: [.nonceVerification(), .tokenAuth(session)])
    configuration.clock = clock.requestClock
    configuration.options.idleTimeout = nil
    client = NetworkClient(configuration: configuration, transport: server)
    try await session.signIn(AccessToken(user), as: user)
    for _ in 0..<2 { outboxes.append(try await makeOutbox()) }
  }

  private func makeOutbox() async throws -> Outbox {
    let outbox = try await Outbox(
      store, client: client, operations: [Step.self],
      configuration: OutboxConfiguration(
        concurrency: Int.random(in: 1...6, using: &random), backoff: Backoff(base: .seconds(1), cap: .seconds(30)),
        pollInterval: .seconds(20)))
    outbox.start()
    return outbox
  }

  // MARK: Steps

  func run(steps: Int) async throws {
    for step in 0..<steps {
      try await takeStep()
      // The app must not run away from the outboxes, or the end of the round would be one long drain.
      if step % 500 == 499 {
        server.set(.good)
        try await outboxes[0].drain()
      }
    }
  }

  private func takeStep() async throws {
    let outbox = outboxes[Int.random(in: 0..<outboxes.count, using: &random)]
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<34: try await enqueue(lane: ["x", "y", "z"][Int.random(in: 0..<3, using: &random)], in: outbox)
    case 34..<46: try await enqueue(in: outbox)
    case 46..<62: try await setRegister(in: outbox)
    case 62..<66: try await enqueueTogether(in: outbox)
    case 66..<73: try await changeUser()
    case 73..<77: clock.moveDate(by: TimeInterval(Int.random(in: -9_000...9_000, using: &random)))
    case 77..<80: try await interrupt(outbox)
    case 80..<82: outboxes[Int.random(in: 0..<outboxes.count, using: &random)] = try await makeOutbox()
    case 82..<85: try await outbox.drain(for: .seconds(100))
    case 85..<89: try await mend(in: outbox)
    case 89..<93: try await discard(in: outbox)
    case 93..<97: server.set(StepServer.Quality.allCases[Int.random(in: 0..<3, using: &random)])
    default: for _ in 0..<20 { await Task.yield() }
    }
  }

  private func next(lane: String? = nil, register: String? = nil, isWrong: Bool = false) -> Step {
    last += 1
    return Step(user: user, number: last, lane: lane, register: register, isWrong: isWrong)
  }

  private func enqueue(lane: String, in outbox: Outbox) async throws {
    let step = next(lane: lane, isWrong: Int.random(in: 0..<30, using: &random) == 0)
    // Half of them in a transaction of the user's own.
    if Bool.random(using: &random) {
      let id = try await outbox.write { db, queue in try queue.enqueue(step, in: db) }
      model.add(step, id)
    } else {
      model.add(step, try await outbox.enqueue(step).id)
    }
  }

  private func enqueue(in outbox: Outbox) async throws {
    let step = next()
    let task = Task { try await outbox.enqueue(step).id }
    // A cancellation does not take the entry back.
    if Bool.random(using: &random) { task.cancel() }
    model.add(step, try await task.value)
  }

  private func setRegister(in outbox: Outbox) async throws {
    let step = next(register: "r\(Int.random(in: 0..<3, using: &random))")
    try await outbox.enqueue(step)
    model.set(step)
  }

  private func enqueueTogether(in outbox: Outbox) async throws {
    let steps = (0..<Int.random(in: 2...8, using: &random)).map { _ in next() }
    try await withThrowingTaskGroup(of: (Step, UUID).self) { group in
      for step in steps { group.addTask { (step, try await outbox.enqueue(step).id) } }
      for try await (step, id) in group { model.add(step, id) }
    }
  }

  private func changeUser() async throws {
    if Bool.random(using: &random) { try await session.signOut() }
    user = Self.users[Int.random(in: 0..<2, using: &random)]
    try await session.signIn(AccessToken(user), as: user)
  }

  private func interrupt(_ outbox: Outbox) async throws {
    if Bool.random(using: &random) {
      await outbox.stop()
      outbox.start()
    } else {
      await outbox.suspend()
      outbox.resume()
    }
  }

  /// Mends the signed-in user's dead letters, or drops them.
  private func mend(in outbox: Outbox) async throws {
    for letter in try await outbox.deadLetters() where letter.isOfPresentUser {
      var step = try letter.operation(Step.self)
      guard step.isWrong else {
        throw WrongOutcome("the step \(step.number) is dead, and nothing was wrong with it: \(letter.state)")
      }
      if Bool.random(using: &random) {
        try await outbox.discard(letter.id)
        model.drop(step.number)
      } else {
        step.isWrong = false
        try await outbox.replace(letter.id, with: step)
        try await outbox.requeue(letter.id)
      }
    }
  }

  /// Discards an entry that may be waiting, sent or delivered.
  private func discard(in outbox: Outbox) async throws {
    guard let (number, id) = model.entries.randomElement(using: &random) else { return }
    do {
      try await outbox.discard(id)
      model.drop(number)
    } catch let error as OutboxError where error.code == .alreadySent || error.code == .noSuchEntry {}
  }

  // MARK: The end

  /// Lets everything arrive, and compares it with the list.
  func end() async throws -> StepServer.State {
    server.set(.good)
    for user in Self.users {
      try await session.signIn(AccessToken(user), as: user)
      let time = Stopwatch()
      // Until no dead letter is left whose lane waits for it.
      while true {
        try await mend(in: outboxes[0])
        if try await outboxes[0].drain().isEmpty, try await outboxes[0].drain().dead == 0 { break }
        try await clock.requestClock.sleep(for: .seconds(5))
        try WrongOutcome.unless(time.seconds < 60, "entries of \(user) are left after a minute")
      }
    }
    for outbox in outboxes { await outbox.stop() }
    let end = server.current
    if let fault = end.faults.first { throw WrongOutcome(fault) }
    try model.check(end.steps)
    try await checkFile(end.steps)
    await store.close()
    return end
  }

  private func checkFile(_ steps: [Step]) async throws {
    let (left, delivered, integrity) = try await store.read { db in
      (
        try db.query("SELECT state FROM outbox_entry WHERE state <> 5", as: Int.self),
        try db.query("SELECT number FROM delivered", as: Int.self),
        try db.query("PRAGMA integrity_check", as: String.self)
      )
    }
    try WrongOutcome.unless(left.isEmpty, "\(left.count) entries are left")
    try WrongOutcome.unless(integrity == ["ok"], "the file is damaged: \(integrity)")
    try WrongOutcome.unless(Set(delivered).count == delivered.count, "the effects of a delivery were saved twice")
    try WrongOutcome.unless(
      Set(delivered).isSubset(of: steps.map(\.number)), "a delivery was saved that the server has not seen")
  }
}

/// The list of what was enqueued, and what one user without failures would have left.
struct StepsModel {
  private var lanes: [String: [Int]] = [:]
  private var registers: [String: Int] = [:]
  private var rest: Set<Int> = []
  private var dropped: Set<Int> = []
  /// The entries that may be dropped, by their numbers.
  private(set) var entries: [(number: Int, id: UUID)] = []

  mutating func add(_ step: Step, _ id: UUID) {
    if let lane = step.lane {
      lanes["\(step.user) \(lane)", default: []].append(step.number)
    } else {
      rest.insert(step.number)
    }
    entries.append((step.number, id))
    if entries.count > 20 { entries.removeFirst() }
  }

  mutating func set(_ step: Step) { registers["\(step.user) \(step.register ?? "")"] = step.number }

  mutating func drop(_ number: Int) {
    dropped.insert(number)
    entries.removeAll { $0.number == number }
  }

  /// Throws unless the steps that a server has carried out are those of the list, in the order of each lane.
  func check(_ steps: [Step]) throws {
    let numbers = Set(steps.map(\.number))
    for (name, lane) in lanes {
      let arrived = steps.filter { $0.lane != nil && "\($0.user) \($0.lane ?? "")" == name }.map(\.number)
      // A dropped entry may have arrived, when its response was lost.
      let expected = lane.filter { !dropped.contains($0) || numbers.contains($0) }
      try WrongOutcome.unless(
        arrived == expected, "the lane \(name) arrived as \(arrived.suffix(20)), and not as \(expected.suffix(20))")
    }
    let missing = rest.subtracting(dropped).subtracting(numbers)
    try WrongOutcome.unless(missing.isEmpty, "the steps \(missing.sorted().prefix(20)) are lost")
    for (name, number) in registers {
      let last = steps.last { "\($0.user) \($0.register ?? "none")" == name }?.number
      try WrongOutcome.unless(last == number, "the register \(name) is \(last ?? 0), and not \(number)")
    }
  }
}
