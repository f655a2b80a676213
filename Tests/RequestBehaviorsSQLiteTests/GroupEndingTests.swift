import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

// A call of the package can reach the grouped writes too.
@testable import RequestBehaviorsSQLite

/// Writes that wait together when their store is closed or suspended.
@Suite(.limited) @MainActor struct GroupEndingTests {
  @Test func `a suspension undoes all writes of a commit, and fails each`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    let suspending: @MainActor () async throws -> Void = {
      try await store.writeTogether { _ in store.state.setSuspended(true) }
    }
    let results = try await bench.together(bench.saves(1...3) + [suspending] + bench.saves(4...6))
    for result in results {
      let error = #expect(throws: SQLiteError.self) { try result.get() }
      #expect(error?.code == .interrupted)
    }
    store.resume()
    #expect(try await bench.ids == [])
    #expect(try await bench.together(bench.saves(1...3)).succeeded.allSatisfy { $0 })
    #expect(try await bench.ids == [1, 2, 3])
  }

  @Test func `writes that wait are done before a store closes, later ones are refused`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    var closing: Task<Void, any Error>?
    let results = try await bench.together(bench.saves(1...5)) { _ in closing = Task { await store.close() } }
    try await closing?.value
    #expect(results.succeeded.allSatisfy { $0 })
    let error = await #expect(throws: SQLiteError.self) { try await store.save([Artwork](), into: "artwork") }
    #expect(error?.code == .misuse)
    let again = try SQLiteStore(path: store.path)
    #expect(try await again.read { try $0.first("SELECT count(*) FROM artwork", as: Int.self) } == 5)
  }

  @Test func `a store closes only after all waiting saves, however many transactions they take`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    var closing: Task<Void, any Error>?
    let results = try await bench.together(bench.saves(1...200)) { _ in closing = await queue { await store.close() } }
    try await closing?.value
    #expect(results.succeeded.allSatisfy { $0 })
    let again = try SQLiteStore(path: store.path)
    #expect(try await again.read { try $0.first("SELECT count(*) FROM artwork", as: Int.self) } == 200)
  }

  @Test func `saves that wait at a suspension do not run, not even after the store resumes`() async throws {
    let bench = try GroupBench()
    let (store, held) = (bench.store, bench.held)
    let holding = Task { try await store.perform(on: store.writer) { _ in held.hold() } }
    await held.isHeld()
    let saves = try await bench.queued(bench.saves(1...200))
    // The store resumes as soon as the suspension allows it.
    let suspension = await queue {
      await store.suspend()
      store.resume()
    }
    held.letGo()
    try await holding.value
    try await suspension.value
    for save in saves {
      let error = await #expect(throws: SQLiteError.self) { try await save.value }
      #expect(error?.code == .interrupted)
    }
    #expect(try await bench.ids == [])
  }

  @Test func `a write that is queued behind many saves runs after them`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    let counting: @MainActor () async throws -> Void = {
      let count = try await store.write { try $0.first("SELECT count(*) FROM artwork", as: Int.self) }
      #expect(count == 100)
    }
    let results = try await bench.together(bench.saves(1...100) + [counting], closures: 1)
    #expect(results.succeeded.allSatisfy { $0 })
  }

  // MARK: While others of the group run

  @Test func `a save that is cancelled while another of its commit runs is undone, the others are saved`() async throws
  {
    let bench = try GroupBench()
    let (store, holder) = (bench.store, Holder())
    let runs = Log()
    let cancelling: @MainActor () async throws -> Void = {
      try await store.writeTogether { _ in
        if runs.lines.isEmpty { holder.cancel() }
        runs.append("run")
      }
    }
    let results = try await bench.together(bench.saves(1...3) + [cancelling] + bench.saves(4...6)) { tasks in
      holder.set {
        tasks[0].cancel()
        tasks[5].cancel()
      }
    }
    #expect(results.succeeded == [false, true, true, true, true, false, true])
    for index in [0, 5] { #expect(throws: CancellationError.self) { try results[index].get() } }
    #expect(try await bench.ids == [2, 3, 4, 6])
  }

  @Test func `a response is not saved if its user signs out while another save of its commit runs`() async throws {
    let bench = try GroupBench()
    let (store, held, encoding) = (bench.store, bench.held, HeldWork())
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get, "mine").respond(json: [Artwork(id: 1, title: "alice's")])
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await session.signIn(AccessToken("alice"))
    let client = NetworkClient(
      baseURL: mock.baseURL,
      behaviors: [.tokenAuth(session), .saveRecords([Artwork].self, into: "artwork", in: store)], transport: mock)
    let holding = Task { try await store.write { _ in held.hold() } }
    await held.isHeld()
    let call = Task { try await client.send(.get("mine")) }
    #expect(try await eventually { store.groups.count == 1 })
    let other = await queue {
      try await store.writeTogether { db in
        encoding.hold()
        try db.save(Artwork(id: 2, title: "other"), into: "artwork")
      }
    }
    #expect(try await eventually { store.groups.count == 2 })
    held.letGo()
    await encoding.isHeld()
    try await session.signOut()
    // The other save runs again.
    for _ in 1...2 { encoding.letGo() }
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .signedOut)
    for task in [holding, other] { try await task.value }
    #expect(try await bench.ids == [2])
  }
}
