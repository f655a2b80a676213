import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite

/// Two users sign in in turn while the entries of both are sent.
struct UsersProgram {
  private static let users = ["anna", "bob"]

  let count: Int

  func run() async throws {
    let (time, clock, folder) = (Stopwatch(), FastClock(), try SoakFolder())
    let server = StepServer(seed: 1, clock: clock.requestClock)
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the soak") })
    var configuration = RequestConfiguration(
      baseURL: soakURL, behaviors: [.nonceVerification(), .tokenAuth(session)])
    configuration.clock = clock.requestClock
    let store = try SQLiteStore(path: folder.file("store.sqlite"), migrations: [Step.delivered])
    let outbox = try await Outbox(
      store, client: NetworkClient(configuration: configuration, transport: server), operations: [Step.self])
    try await enqueue(outbox, session)
    outbox.start()
    let changes = try await changeUsers(outbox, session, server)
    await outbox.stop()
    let end = server.current
    try WrongOutcome.unless(end.underAnothersToken == 0, end.faults.first ?? "")
    try WrongOutcome.unless(end.steps.count == count, "\(end.steps.count) of \(count) have arrived")
    print(
      "users: \(changes) sign-ins, \(count) entries, \(end.sends) sends, \(end.underAnothersToken) under another's "
        + "token, \(time.text)")
  }

  private func enqueue(_ outbox: Outbox, _ session: TokenSession) async throws {
    for (index, user) in Self.users.enumerated() {
      try await session.signIn(AccessToken(user), as: user)
      let numbers = Array(stride(from: index, to: count, by: Self.users.count))
      try await outbox.write { db, queue in
        for number in numbers {
          try queue.enqueue(Step(user: user, number: number, lane: number % 3 == 0 ? "x" : nil), in: db)
        }
      }
    }
  }

  /// Has the users sign in in turn until all of their entries have arrived; returns how often.
  private func changeUsers(_ outbox: Outbox, _ session: TokenSession, _ server: StepServer) async throws -> Int {
    var (changes, progress) = (0, Stopwatch())
    var arrived = 0
    while server.current.steps.count < count {
      let user = Self.users[changes % 2]
      if changes % 5 == 0 { try await session.signOut() }
      try await session.signIn(AccessToken(user), as: user)
      changes += 1
      // Real time, which differs from one change to the next: where a request is when its user leaves is to differ.
      try await ContinuousClock().sleep(for: .microseconds(changes % 13 * 300))
      if server.current.steps.count > arrived { (arrived, progress) = (server.current.steps.count, Stopwatch()) }
      try WrongOutcome.unless(progress.seconds < 60, "nothing has arrived for a minute, after \(arrived) steps")
    }
    return changes
  }
}
