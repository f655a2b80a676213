import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
public import RequestBehaviorsTesting

private struct Note: Codable, Sendable, Equatable {
  let id: String
  let user: String
}

extension SimulatedWorld {
  /// Users whose responses are saved to a SQLite file, by two stores as two processes have them, beside writes that are
  /// cancelled and readers that watch.
  public func buildStore() throws {
    let folder = try makeFolder()
    let path = folder.appending(path: "notes.sqlite").path(percentEncoded: false)
    let migration = SQLiteMigration("notes") { try $0.createTable("note", for: Note.self) }
    let state = NoteState()
    // Nothing else of this world has the file open while a write runs, so no write need wait for long.
    var configuration = SQLiteConfiguration(
      busyTimeout: .milliseconds(20), maximumReaders: number(in: 1..<5, "readers of a store"))
    if includes("cancellations between statements") {
      // On one thread nothing else happens while a transaction runs; on several a cancellation comes at any time.
      configuration.trace = { [weak self] _ in
        guard let self, !state.tasks.isEmpty, chance(0.02, "cancellation between statements") else { return }
        state.tasks[number(in: 0..<state.tasks.count, "cancelled between statements")].cancel()
      }
    }
    let stores = try (0..<2).map { _ in
      try SQLiteStore(path: path, configuration: configuration, migrations: [migration])
    }
    let tokens = TokenServer(clock: clock, lifetime: .seconds(60)) { .milliseconds(100) }
    network.serve("auth.example", troubles: [.refused]) { tokens.refresh($0) }
    network.serve("notes.example") { request in
      guard let token = request.headers["Authorization"]?.dropFirst(7), let user = tokens.user(of: String(token)) else {
        return .status(401, headers: ["WWW-Authenticate": "Bearer"])
      }
      return .json(#"[{"id":"\#(user)-\#(request.url.lastPathComponent)","user":"\#(user)"}]"#)
    }
    network.troubles = [.refused, .lostBefore, .slow, .serverError, .cut]
    span = .seconds(20)
    let source = RefreshTokenGrant(TokenEndpoint(url: URL(string: "https://auth.example/token")!, clientID: "app"))
    let session = TokenSession(source: source, clock: clock)
    let behaviors = commonBehaviors() + [.tokenAuth(session)] + userBehaviors()
    let client = client(baseURL: URL(string: "https://notes.example")!, behaviors: behaviors)
    action("anna signs in", at: .after(.zero)) {
      try await session.signIn(tokens.signIn("anna"), as: "anna")
      state.user = "anna"
    }
    for number in 0..<6 {
      let store = stores[self.number(in: 0..<2, "store of save \(number)")]
      call("save \(number)", mayBeCancelled: true) {
        guard let user = state.user else { return }
        try await state.run {
          _ = try await client.send(
            Request<[Note]>.get("notes/\(number)").with(.saveRecords([Note].self, into: "note", in: store)))
          state.acknowledged.append("\(user)-\(number)")
        }
      }
      call("write \(number)", mayBeCancelled: true) {
        let id = "own-\(number)"
        do {
          try await state.run {
            try await store.write { _ = try $0.save(Note(id: id, user: "own"), into: "note") }
          }
          state.acknowledged.append(id)
        } catch {
          state.refused.append(id)
          throw error
        }
      }
    }
    // All at one time, so that their writes are committed together.
    if includes("saves together") {
      network.latency = .microseconds(1)
      call("saves together") {
        guard let user = state.user else { return }
        await withTaskGroup(of: Void.self) { group in
          for number in 10..<18 {
            group.addTask {
              try? await state.run {
                _ = try await client.send(
                  Request<[Note]>.get("notes/\(number)").with(.saveRecords([Note].self, into: "note", in: stores[1])))
                state.acknowledged.append("\(user)-\(number)")
              }
            }
          }
        }
      }
    }
    action("anna signs out") {
      guard state.user != nil else { return }
      state.user = nil
      try await session.signOut()
      state.rowsAtSignOut = try await stores[0].read {
        try $0.query("SELECT * FROM note WHERE user = 'anna'", as: Note.self)
      }.count
    }
    // More of them than may read at a time.
    let readers = includes("readers") ? number(in: 1..<7, "readers") : 0
    for number in 0..<readers {
      call("reader \(number)", mayBeCancelled: true) {
        try await state.run {
          for try await notes in stores[0].values({ try $0.query("SELECT * FROM note", as: Note.self) }) {
            if notes.contains(where: { $0.id == "last" }) { break }
          }
        }
      }
    }
    action("the last writes", at: .after(span + .seconds(120))) {
      // Close together, so that a reader still reads when the next one comes.
      for id in ["burst-0", "burst-1", "last"] {
        try await stores[0].write { _ = try $0.save(Note(id: id, user: "own"), into: "note") }
      }
    }
    lastly("both stores can write, and what was acknowledged is there") {
      for (index, store) in stores.enumerated() {
        try await store.write { _ = try $0.save(Note(id: "end-\(index)", user: "own"), into: "note") }
      }
      let notes = try await stores[1].read { try $0.query("SELECT * FROM note", as: Note.self) }
      for id in state.acknowledged where !notes.contains(where: { $0.id == id }) { throw BrokenRule("\(id) is lost") }
      for id in state.refused where notes.contains(where: { $0.id == id }) {
        throw BrokenRule("the write of \(id) threw an error, and \(id) is saved")
      }
      if let count = state.rowsAtSignOut, notes.count(where: { $0.user == "anna" }) != count {
        throw BrokenRule("a note of anna was saved after she had signed out")
      }
      for store in stores { await store.close() }
      try FileManager.default.removeItem(at: folder)
    }
  }
}

/// All of it is used on the simulation's thread.
private final class NoteState: @unchecked Sendable {
  var user: String?
  var acknowledged: [String] = []
  var rowsAtSignOut: Int?
  var refused: [String] = []
  /// The work that a cancellation between two statements may concern.
  private(set) var tasks: [Task<Void, any Error>] = []

  /// Runs work that a cancellation between two statements may concern.
  ///
  /// - Throws: An error of its own if that cancelled it; the error of the work.
  func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    tasks.append(task)
    defer { tasks.removeAll { $0 == task } }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch is CancellationError where !Task.isCancelled && task.isCancelled {
      throw BrokenRule("it was cancelled between two statements")
    }
  }
}
