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
    let stores = try (0..<2).map { _ in try SQLiteStore(path: path, migrations: [migration]) }
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
    let state = NoteState()
    action("anna signs in", at: .after(.zero)) {
      try await session.signIn(tokens.signIn("anna"), as: "anna")
      state.user = "anna"
    }
    for number in 0..<6 {
      let store = stores[self.number(in: 0..<2, "store of save \(number)")]
      call("save \(number)", mayBeCancelled: true) {
        guard let user = state.user else { return }
        _ = try await client.send(
          Request<[Note]>.get("notes/\(number)").with(.saveRecords([Note].self, into: "note", in: store)))
        state.acknowledged.append("\(user)-\(number)")
      }
      call("write \(number)", mayBeCancelled: true) {
        try await store.write { _ = try $0.save(Note(id: "own-\(number)", user: "own"), into: "note") }
        state.acknowledged.append("own-\(number)")
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
    if includes("reader") {
      call("reader", mayBeCancelled: true) {
        for try await notes in stores[0].values({ try $0.query("SELECT * FROM note", as: Note.self) }) {
          state.seen = notes.count
          if notes.contains(where: { $0.id == "last" }) { break }
        }
      }
    }
    action("the last write", at: .after(span + .seconds(120))) {
      try await stores[0].write { _ = try $0.save(Note(id: "last", user: "own"), into: "note") }
    }
    lastly("both stores can write, and what was acknowledged is there") {
      for (index, store) in stores.enumerated() {
        try await store.write { _ = try $0.save(Note(id: "end-\(index)", user: "own"), into: "note") }
      }
      let notes = try await stores[1].read { try $0.query("SELECT * FROM note", as: Note.self) }
      for id in state.acknowledged where !notes.contains(where: { $0.id == id }) { throw BrokenRule("\(id) is lost") }
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
  var seen = 0
}
