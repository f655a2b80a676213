import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
public import RequestBehaviorsTesting

extension SimulatedWorld {
  /// Two users on one session whose requests must arrive: behind portals and proxies, through sign-outs, and through
  /// restarts in the middle of anything.
  public func buildOutbox() throws {
    let folder = try makeFolder()
    let state = OutboxState(lanesGoOn: includes("lanes that go on"), discards: includes("discarding", chance: 0.2))
    network.serve("api.example") { state.answer($0) }
    network.troubles = [.refused, .lostBefore, .lostAfter, .slow, .serverError, .tooManyRequests, .portal, .cut]
    network.troubleRate = 0.4
    span = .seconds(60)
    network.onSend = { state.noteSend($0) }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the world") }, clock: clock)
    let behaviors =
      commonBehaviors(isNeverReset: false) + [.nonceVerification(), .tokenAuth(session)] + userBehaviors()
    // One client for each run of the program.
    let runs = number(in: 1..<4, "runs of the program") + 1
    let clients = (0..<runs).map { _ in client(baseURL: URL(string: "https://api.example")!, behaviors: behaviors) }
    let path = folder.appending(path: "outbox.sqlite").path(percentEncoded: false)
    let open: @Sendable (Int) async throws -> Run = { run in
      try await Run(path: path, client: clients[run], state)
    }
    action("anna signs in", at: .after(.zero)) {
      try await session.signIn(AccessToken("anna"), as: "anna")
      state.runs = [try await open(0)]
      state.user = "anna"
    }
    for number in 0..<12 {
      let lane = ["x", "y", nil][self.number(in: 0..<3, "lane of edit \(number)")]
      let isWrong = chance(0.1, "edit \(number) is wrong")
      call("edit \(number)", mayBeCancelled: true) {
        try await state.enqueue(number, lane: lane, isWrong: isWrong)
      }
    }
    for number in 0..<3 { call("look \(number)", mayBeCancelled: true) { try await state.look() } }
    // Not `start()`, after which the world would never be at rest.
    for number in 0..<5 {
      let isLatest = chance(0.7, "drain \(number) is of the latest run")
      let limit = Duration.seconds(self.number(in: 1..<40, "limit of drain \(number)"))
      call("drain \(number)", mayBeCancelled: true) {
        _ = try await (isLatest ? state.runs.last : state.runs.first)?.outbox.drain(for: limit)
      }
    }
    addSignOuts(session, state)
    addRestarts(count: runs - 1, state, open)
    addEnd(folder, session, state) { try await open(runs - 1) }
  }

  private func addSignOuts(_ session: TokenSession, _ state: OutboxState) {
    for (number, name) in ["bob", "anna", "bob", "anna"].enumerated() where includes("sign-in \(number)") {
      let signsOut = includes("a sign-out before sign-in \(number)")
      action("sign-in \(number) of \(name)") { [unowned self] in
        guard state.user != nil else { return }
        (state.user, state.changes) = (nil, state.changes + 1)
        if signsOut {
          try await session.signOut()
          try await clock.sleep(for: .milliseconds(self.number(in: 0..<3_000, "time between two users")))
        }
        try await session.signIn(AccessToken(name), as: name)
        state.user = name
      }
    }
  }

  /// Ends the program in the middle of anything and starts it again, or starts a second one beside it.
  private func addRestarts(
    count: Int, _ state: OutboxState, _ open: @escaping @Sendable (Int) async throws -> Run
  ) {
    for number in 1..<max(1, count) {
      let (isBeside, isOrderly) = (includes("a second process \(number)"), includes("an orderly end \(number)"))
      action("start \(number)") {
        guard !state.runs.isEmpty else { return }
        if !isBeside, let old = state.runs.popLast() {
          if isOrderly { await old.outbox.stop() }
          await old.store.close()
        }
        let run = try await open(number)
        state.runs.append(run)
      }
    }
  }

  private func addEnd(
    _ folder: URL, _ session: TokenSession, _ state: OutboxState, _ open: @escaping @Sendable () async throws -> Run
  ) {
    lastly("everything has arrived that was enqueued") { [unowned self] in
      for run in state.runs {
        await run.outbox.stop()
        await run.store.close()
      }
      state.runs = []
      let last = try await open()
      for user in ["anna", "bob"] {
        try await session.signIn(AccessToken(user), as: user)
        try await last.deliverAll(clock)
      }
      try await state.check(last.store)
      await last.store.close()
      try FileManager.default.removeItem(at: folder)
    }
    check("each request carries the token of its user and the one key of its entry") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
  }
}

/// A request of a user, which is appended to a lane.
private struct Edit: OutboxOperation {
  static let name = "edit"
  var user: String
  var number: Int
  var lane: String?
  /// Whether the server refuses it for good.
  var isWrong: Bool
  var delivery: OutboxDelivery { OutboxDelivery(lane: lane) }

  func request(in db: Database) -> Request<Void> { .post("edits/\(number)", body: .json(self)) }

  func delivered(_ value: Void, in db: Database) throws {
    try db.execute("INSERT INTO done VALUES (\(number), \(user), 1)")
  }

  func rejected(_ failure: OutboxFailure, in db: Database) throws {
    try db.execute("INSERT INTO done VALUES (\(number), \(user), 0)")
  }
}

/// One run of the program: its store and its outbox.
private struct Run: Sendable {
  let store: SQLiteStore
  let outbox: Outbox

  static let tables = SQLiteMigration("edits") { db in
    try db.execute("CREATE TABLE enqueued (number INTEGER PRIMARY KEY, user TEXT NOT NULL, lane TEXT, seq INTEGER)")
    try db.execute("CREATE TABLE done (number INTEGER PRIMARY KEY, user TEXT NOT NULL, isDelivered INTEGER NOT NULL)")
  }

  init(path: String, client: NetworkClient, _ state: OutboxState) async throws {
    store = try await SQLiteStore.open(
      path: path, configuration: SQLiteConfiguration(busyTimeout: .milliseconds(20)), migrations: [Self.tables])
    outbox = try await Outbox(
      store, client: client, operations: [Edit.self],
      configuration: OutboxConfiguration(
        atSignOut: state.discards ? .discard : .hold, lanes: state.lanesGoOn ? .goesOn : .stops,
        backoff: Backoff(base: .seconds(1), cap: .seconds(30)), pollInterval: .seconds(5)))
  }

  /// Sends until nothing of the signed-in user is left; drops what the server refuses.
  func deliverAll(_ clock: RequestClock) async throws {
    for _ in 0..<40 {
      for letter in try await outbox.deadLetters() where letter.isOfPresentUser {
        guard try letter.operation(Edit.self).isWrong else {
          throw BrokenRule("an edit is a dead letter, and nothing is wrong with it: \(letter.state)")
        }
        try await outbox.discard(letter.id)
      }
      let left = try await outbox.drain()
      if left.isEmpty, left.dead == 0 { return }
      try await clock.sleep(for: .seconds(61))
    }
    throw BrokenRule("entries are left after 40 minutes on a good network")
  }
}

/// The server, and what is known of the edits.
///
/// All of it is used on the simulation's thread.
private final class OutboxState: @unchecked Sendable {
  let lanesGoOn: Bool
  let discards: Bool
  var user: String?
  /// The number of sign-outs that have begun.
  var changes = 0
  var runs: [Run] = []
  var problems: [String] = []
  private var acknowledged: [Int] = []
  private var refused: [Int] = []
  /// The edits that the server refuses for good.
  private var wrong: Set<Int> = []
  /// The edits that the server has carried out, in order.
  private var edits: [Edit] = []
  private var numbers: [String: Int] = [:]
  private var keys: [Int: String] = [:]

  init(lanesGoOn: Bool, discards: Bool) { (self.lanesGoOn, self.discards) = (lanesGoOn, discards) }

  // MARK: The app

  func enqueue(_ number: Int, lane: String?, isWrong: Bool) async throws {
    guard let user, let run = runs.last else { return }
    let before = changes
    let edit = Edit(user: user, number: number, lane: lane, isWrong: isWrong)
    if isWrong { wrong.insert(number) }
    let writer = try await run.outbox.writer()
    // The writer is the next user's, if there was a change meanwhile.
    guard changes == before, self.user == user else { return }
    do {
      try await run.store.write(durability: .full) { db in
        try writer.enqueue(edit, in: db)
        let seq = try db.first("SELECT count(*) FROM enqueued", as: Int.self) ?? 0
        try db.execute("INSERT INTO enqueued VALUES (\(number), \(user), \(lane), \(seq))")
      }
    } catch {
      refused.append(number)
      throw error
    }
    acknowledged.append(number)
  }

  /// Looks as a screen does: each edit waits, is done, or is refused, and never two of them.
  func look() async throws {
    guard !discards, let user, let run = runs.last else { return }
    let before = changes
    let (enqueued, waiting, done) = try await run.store.read { db in
      (
        try db.query("SELECT number FROM enqueued WHERE user = \(user) ORDER BY number", as: Int.self),
        try run.outbox.waiting(Edit.self, in: db).map(\.operation.number),
        try db.query("SELECT number FROM done WHERE user = \(user)", as: Int.self)
      )
    }
    guard changes == before, self.user == user, (waiting + done).sorted() != enqueued else { return }
    problems.append("of \(enqueued) of \(user) there wait \(waiting), and done are \(done)")
  }

  // MARK: The server

  func noteSend(_ request: NetworkRequest) {
    guard let edit = try? request.json(Edit.self) else { return }
    let token = request.headers["Authorization"] ?? "no token"
    if token != "Bearer \(edit.user)" { problems.append("the edit \(edit.number) of \(edit.user) carries \(token)") }
    let key = request.headers["Idempotency-Key"] ?? "none"
    if let before = numbers.updateValue(edit.number, forKey: key), before != edit.number {
      problems.append("the key \(key) is that of the edits \(before) and \(edit.number)")
    }
    if let before = keys.updateValue(key, forKey: edit.number), before != key {
      problems.append("the edit \(edit.number) has the keys \(before) and \(key)")
    }
  }

  func answer(_ request: NetworkRequest) -> SimulatedResponse {
    guard let edit = try? request.json(Edit.self) else { return .status(400) }
    let nonce: HeaderFields = ["X-API-Nonce": request.headers["X-API-Nonce"] ?? ""]
    if edit.isWrong { return .status(422, headers: nonce) }
    if !edits.contains(where: { $0.number == edit.number }) { edits.append(edit) }
    return .status(200, headers: nonce)
  }

  // MARK: The end

  /// Compares what the server has with what was enqueued, in the order of the commits.
  func check(_ store: SQLiteStore) async throws {
    let (enqueued, delivered) = try await store.read { db in
      (
        try db.query("SELECT number, lane, user FROM enqueued ORDER BY seq") { row in
          (number: try row[0] as Int, lane: "\(try row[1] as String? ?? "none") \(try row[2] as String)")
        },
        try db.query("SELECT number FROM done WHERE isDelivered = 1", as: Int.self)
      )
    }
    let known = Set(enqueued.map(\.number))
    if let lost = acknowledged.first(where: { !known.contains($0) }) { throw BrokenRule("the edit \(lost) is lost") }
    if let kept = refused.first(where: known.contains) { throw BrokenRule("the edit \(kept) was refused and is kept") }
    let arrived = edits.map(\.number)
    if !discards, let missing = known.first(where: { !arrived.contains($0) && !wrong.contains($0) }) {
      throw BrokenRule("the edit \(missing) has not arrived")
    }
    if !discards, Set(delivered) != Set(arrived) {
      throw BrokenRule("the server has \(arrived), and saved as delivered are \(delivered)")
    }
    for lane in Set(enqueued.map(\.lane)) where !lane.hasPrefix("none") {
      let expected = enqueued.filter { $0.lane == lane && arrived.contains($0.number) }.map(\.number)
      let order = arrived.filter(expected.contains)
      if order != expected { throw BrokenRule("the lane \(lane) arrived as \(order), and not as \(expected)") }
    }
  }
}
