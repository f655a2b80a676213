import Testing

// What the library groups is reached by a call of the package, too.
@testable import RequestBehaviorsSQLite

/// What happens to writes that wait together when their store is closed or suspended.
@Suite(.limited) @MainActor struct GroupEndingTests {
  @Test func `a suspension undoes all that share a commit, and tells each`() async throws {
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

  @Test func `none of many saves that wait at a suspension runs, also not after the store has resumed`() async throws {
    let bench = try GroupBench()
    let (store, held) = (bench.store, bench.held)
    let holding = Task { try await store.perform(on: store.writer) { _ in held.hold() } }
    await held.isHeld()
    var saves: [Task<Void, any Error>] = []
    for save in bench.saves(1...200) { saves.append(await queue { try await save() }) }
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
    let results = try await bench.together(bench.saves(1...100) + [counting])
    #expect(results.succeeded.allSatisfy { $0 })
  }
}
