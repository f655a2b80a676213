import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport

/// Processes that enqueue and send until they are killed, and what of theirs has arrived.
struct KillsProgram {
  let count: Int
  let processes: Int
  let isOverNetwork: Bool

  #if os(Linux) || os(macOS)
    func run() async throws {
      let (time, folder, tally) = (Stopwatch(), try SoakFolder(), KillTally())
      let server = isOverNetwork ? try KillsServer() : nil
      let places = [folder.file("store.sqlite"), server?.url ?? folder.file("server")]
      var random = SeededGenerator(seed: UInt64(count * 10 + processes))
      for round in 0..<count {
        let senders = try (0..<processes).map { number in
          try Sender(places + ["\(round * 100_000 + number)", "\(processes)"])
        }
        let lines = senders.map { _ in Int.random(in: 1...60, using: &random) }
        await withTaskGroup { group in
          for (sender, lines) in zip(senders, lines) { group.addTask { tally.add(await sender.kill(after: lines)) } }
        }
        try tally.check()
      }
      let last = try await ChildProcess(Sender.program(), places + ["0", "1", "drain"], keepsErrors: true).end()
      try WrongOutcome.unless(last.status == 0, "the last process ended with \(last.status): \(last.text)")
      let arrivals = try server?.arrivals ?? KillsServer.arrivals(in: places[1])
      try await check(folder, tally.acknowledged, arrivals)
      print(
        "kills: \(tally.kills) processes, \(tally.acknowledged.count) acknowledged, 0 lost, \(arrivals.count) arrivals "
          + "of \(Set(arrivals.map(\.number)).count), \(time.text)")
    }
  #else
    func run() async throws { throw WrongOutcome("this system starts no processes") }
  #endif

  private func check(_ folder: SoakFolder, _ acknowledged: Set<Int>, _ arrivals: [KillsServer.Arrival]) async throws {
    let lost = acknowledged.subtracting(arrivals.map(\.number))
    try WrongOutcome.unless(!acknowledged.isEmpty, "nothing was acknowledged")
    try WrongOutcome.unless(lost.isEmpty, "\(lost.count) are lost, such as \(lost.sorted().prefix(5))")
    let keys = Dictionary(grouping: arrivals, by: \.number).mapValues { Set($0.map(\.key)).count }
    try WrongOutcome.unless(keys.allSatisfy { $0.value == 1 }, "an entry arrived under two keys")
    try checkOrder(arrivals)
    let store = try SQLiteStore(path: folder.file("store.sqlite"))
    let (integrity, delivered, left) = try await store.read { db in
      (
        try db.query("PRAGMA integrity_check", as: String.self),
        try db.query("SELECT number FROM delivered", as: Int.self),
        try db.query("SELECT state FROM outbox_entry WHERE state <> 5", as: Int.self)
      )
    }
    try WrongOutcome.unless(integrity == ["ok"], "the file is damaged: \(integrity)")
    try WrongOutcome.unless(left.isEmpty, "\(left.count) entries are left")
    // The effects of a delivery are saved once, however often the request arrived.
    try WrongOutcome.unless(Set(delivered).count == delivered.count, "the effects of a delivery were saved twice")
    try WrongOutcome.unless(Set(delivered) == Set(arrivals.map(\.number)), "not all deliveries were saved")
  }

  /// Throws unless in each lane a number first arrives after those that its process has enqueued before.
  private func checkOrder(_ arrivals: [KillsServer.Arrival]) throws {
    var latest: [[Int]: Int] = [:]
    var seen: Set<Int> = []
    for number in arrivals.map(\.number) where seen.insert(number).inserted {
      let lane = [number % 4, number % processes]
      if let before = latest[lane], before > number { throw WrongOutcome("\(before) arrived before \(number)") }
      latest[lane] = number
    }
  }
}

#if os(Linux) || os(macOS)
  /// A process that enqueues and sends.
  private struct Sender {
    let process: ChildProcess

    static func program() throws -> URL {
      guard let program = ChildProcess.fixture("OutboxSender") else {
        throw WrongOutcome("OutboxSender is not built; run swift build --product OutboxSender")
      }
      return program
    }

    init(_ arguments: [String]) throws { process = try ChildProcess(Self.program(), arguments, keepsErrors: true) }

    /// Kills the process when it has written so many lines.
    func kill(after count: Int) async -> ChildProcess.Result { await process.kill(afterLines: count) }
  }
#endif

/// The things that killed processes have told.
final class KillTally: Sendable {
  private let state = Locked<(kills: Int, acknowledged: Set<Int>, deaths: [String])>((0, [], []))

  var kills: Int { state.withLock { $0.kills } }
  var acknowledged: Set<Int> { state.withLock { $0.acknowledged } }

  #if os(Linux) || os(macOS)
    /// Notes the numbers of which a process has told, and a death of its own.
    func add(_ result: ChildProcess.Result) {
      // A line may have been cut off by the end.
      let whole = result.text.lastIndex(of: "\n").map { result.text.prefix(through: $0) } ?? ""
      let numbers = whole.split(separator: "\n").compactMap { Int($0) }
      state.withLock { state in
        state.kills += 1
        state.acknowledged.formUnion(numbers)
        guard !result.wasKilled || result.status != SIGKILL else { return }
        state.deaths.append("a process ended by itself with \(result.status): \(result.text.suffix(2_000))")
      }
    }
  #endif

  /// Throws if a process has ended before it was killed.
  func check() throws {
    if let death = state.withLock({ $0.deaths.first }) { throw WrongOutcome(death) }
  }
}

/// A server over real connections that fails one request of seven, in one of three ways.
final class KillsServer: Sendable {
  struct Arrival: Sendable {
    let number: Int
    let key: String
  }

  private let list: Locked<[Arrival]>
  private let server: LoopbackServer

  var url: String { server.baseURL.absoluteString }
  var arrivals: [Arrival] { list.withLock { $0 } }

  init() throws {
    let list = Locked<[Arrival]>([])
    self.list = list
    server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
      let chance = Int.random(in: 0..<21)
      if chance == 0 { return .status(200).fault(.close, at: .head(after: 0)) }
      let number = request.path.split(separator: "/").last.flatMap { Int($0) } ?? -1
      list.withLock { $0.append(Arrival(number: number, key: request.headers["Idempotency-Key"] ?? "none")) }
      if chance == 1 { return .status(200).fault(.close, at: .head(after: 0)) }
      let response = LoopbackResponse.status(chance == 2 ? 503 : 200)
      return chance == 3 ? response : response.header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }
  }

  /// Reads the file to which processes append what arrives.
  static func arrivals(in file: String) throws -> [Arrival] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
      let parts = line.split(separator: " ")
      return Arrival(number: parts.first.flatMap { Int($0) } ?? -1, key: parts.last.map(String.init) ?? "none")
    }
  }
}
