import Dispatch
import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct MaintenanceTests {
  @Test func `a closed store refuses work and leaves one file`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await test.artworks.count == 1)
    await test.store.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: test.folder.path)
    #expect(files == ["store.sqlite"])
    let error = await #expect(throws: SQLiteError.self) { try await test.store.read { _ in } }
    #expect(error?.message.contains("closed") == true)
  }

  @Test func `a closed store leaves one file also where SQLite keeps the others`() async throws {
    let vfs = FaultVFS()
    try await checkOneFileIsLeft(vfs.configuration())
    withExtendedLifetime(vfs) {}
  }

  private func checkOneFileIsLeft(_ configuration: SQLiteConfiguration) async throws {
    let test = try TestStore(configuration)
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await test.artworks.count == 1)
    await test.store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder.path) == ["store.sqlite"])
  }

  @Test(arguments: [SQLiteFileProtection.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication])
  func `a store with a class of data protection opens only on platforms with such classes`(
    _ protection: SQLiteFileProtection
  ) async throws {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      try await checkOneFileIsLeft(SQLiteConfiguration(fileProtection: protection))
    #else
      let folder = try TemporaryFolder()
      let error = try #require(throws: SQLiteError.self) {
        try SQLiteStore(
          path: folder.path + "/store.sqlite", configuration: SQLiteConfiguration(fileProtection: protection))
      }
      #expect(error.code == .misuse)
      #expect(error.message.contains("\(protection)"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #endif
  }

  @Test func `each class of data protection has its own flag for SQLite`() {
    let classes: [SQLiteFileProtection] = [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication]
    // By the header of Apple's SDKs.
    #expect(classes.map(\.openFlag) == [0x0010_0000, 0x0020_0000, 0x0030_0000])
  }

  @Test func `a suspended store undoes running work and refuses new until it resumes`() async throws {
    let test = try TestStore()
    let store = test.store
    let started = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      try await store.write { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        started.continuation.yield()
        try db.execute(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          INSERT INTO artwork (id, title) SELECT 1000 + max(i), 'never' FROM n
          """)
      }
    }
    for await _ in started.stream { break }
    await store.suspend()
    let interrupted = await #expect(throws: SQLiteError.self) { try await running.value }
    #expect(interrupted?.code == .interrupted)
    let refused = await #expect(throws: SQLiteError.self) { try await store.read { _ in } }
    #expect(refused?.message.contains("resume()") == true)
    store.resume()
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `a read that a suspension stops fails, although its closure caught the statement's error`() async throws {
    let test = try TestStore()
    let store = test.store
    let started = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      try await store.read { db in
        started.continuation.yield()
        let endless: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        return (try? db.query(endless, as: Int.self)) ?? []
      }
    }
    for await _ in started.stream { break }
    await store.suspend()
    let error = await #expect(throws: SQLiteError.self) { try await running.value }
    #expect(error?.code == .interrupted)
  }

  @Test func `a new backup is private to its owner, and an existing file keeps its permissions`()
    async throws
  {
    let (test, files) = (try TestStore(), FileManager.default)
    let path = test.folder.file("copy.sqlite")
    func mode() throws -> Int? { try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
    try await test.store.backup(to: path)
    #expect(try mode() == 0o600)
    try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    try await test.store.backup(to: path)
    #expect(try mode() == 0o640)
    #expect(try files.contentsOfDirectory(atPath: test.folder.path).filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
  }

  @Test func `a backup into memory does not create a file`() async throws {
    let test = try TestStore()
    try await test.store.backup(to: ":memory:")
    #expect(!FileManager.default.fileExists(atPath: ":memory:"))
  }

  @Test func `a backup is a database of its own with the same rows`() async throws {
    let test = try TestStore()
    let all = (1...500).map { Artwork(id: $0, title: "title \($0)") }
    try await test.store.write { _ = try $0.save(all, into: "artwork") }
    try await test.store.backup(to: test.folder.file("copy.sqlite"))
    let copy = try SQLiteStore(path: test.folder.file("copy.sqlite"), migrations: [TestStore.artwork])
    #expect(try await copy.read { try $0.query("SELECT * FROM artwork ORDER BY id", as: Artwork.self) } == all)
    await #expect(throws: SQLiteError.self) { try await test.store.backup(to: test.store.path) }
  }

  /// A look at the path finds no file, the other file, or first the one and then the other.
  @Test func `no write into a removed file succeeds while another file comes and goes at its path`() async throws {
    let test = try TestStore()
    try await test.store.write { try $0.execute("INSERT INTO artwork (title) VALUES ('Haystacks')") }
    let (file, other) = (test.folder.file(), test.folder.file("other"))
    try Data().write(to: URL(fileURLWithPath: other))
    try FileManager.default.removeItem(atPath: file)
    let isOver = Locked(false)
    let moving = AsyncStream.makeStream(of: Void.self)
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        rename(other, file)
        rename(file, other)
      }
      moving.continuation.finish()
    }
    var saved = 0
    for _ in 0..<2_000 {
      do {
        try await test.store.write { try $0.execute("INSERT INTO artwork (title) VALUES ('Poplars')") }
        saved += 1
      } catch let error as SQLiteError {
        guard error.code == .readOnly else { throw error }
      }
    }
    isOver.withLock { $0 = true }
    for await _ in moving.stream {}
    #expect(saved == 0)
  }

  @Test(arguments: [false, true], [SQLiteDurability.normal, .full])
  func `a write into a file that was removed or replaced fails and does not save`(
    isReplaced: Bool, durability: SQLiteDurability
  ) async throws {
    let test = try TestStore()
    let (store, files) = (test.store, FileManager.default)
    try await store.write(durability: durability) { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    // From here on there is a reader, which has the file open.
    #expect(try await test.artworks.count == 1)
    try files.removeItem(atPath: store.path)
    if isReplaced { try Data().write(to: URL(filePath: store.path)) }
    for _ in 1...2 {
      let error = await #expect(throws: SQLiteError.self) {
        try await store.write(durability: durability) { try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
      }
      #expect(error?.code == .readOnly)
      // SQLITE_READONLY_DBMOVED
      #expect(error?.extendedCode == 1032)
      #expect(error?.message.contains("removed or replaced") == true)
    }
    let shared = await #expect(throws: SQLiteError.self) {
      try await store.save([Artwork(id: 2, title: "two")], into: "artwork", durability: durability)
    }
    #expect(shared?.code == .readOnly)
    #expect(try await test.artworks.map(\.id) == [1])
  }

  @Test(arguments: [false, true])
  func `a first read does not open another file than the writes`(isReplaced: Bool) async throws {
    let test = try TestStore()
    try FileManager.default.removeItem(atPath: test.store.path)
    if isReplaced { try Data().write(to: URL(filePath: test.store.path)) }
    let error = await #expect(throws: SQLiteError.self) { try await test.artworks }
    #expect(error?.extendedCode == 1032)
    #expect(FileManager.default.fileExists(atPath: test.store.path) == isReplaced)
  }

  @Test func `the end of a store loses nothing of the file that took its place`() async throws {
    let test = try TestStore()
    let (store, path) = (test.store, test.store.path)
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    try FileManager.default.removeItem(atPath: path)
    let new = try SQLiteStore(path: path, migrations: [TestStore.artwork])
    try await new.write { try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    await store.close()
    #expect(try await new.read { try $0.query("SELECT id FROM artwork", as: Int.self) } == [2])
    await new.close()
    let last = try SQLiteStore(path: path)
    #expect(try await last.read { try $0.query("SELECT id FROM artwork", as: Int.self) } == [2])
  }

  #if os(Linux)
    @Test func `the error of a file in a folder that may not be written names the folder`() async throws {
      let test = try TestStore()
      let (store, folder) = (test.store, test.folder)
      await store.close()
      // Root may write into every folder, so this thread is another user meanwhile, to whom the file belongs.
      let setUser = dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: (@convention(c) (uid_t) -> CInt).self) }
      if geteuid() == 0 { chown(store.path, 65_534, 65_534) }
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
      let error = #expect(throws: SQLiteError.self) {
        if geteuid() == 0 { _ = setUser?(65_534) }
        defer { if geteuid() == 0 { _ = setUser?(0) } }
        _ = try SQLiteStore(path: store.path)
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
      #expect(error?.message.contains("no file may be created in the folder \(folder.path): Permission denied") == true)
    }

    @Test(arguments: [SQLiteDurability.normal, .full])
    func `a write succeeds after the process has lost the right to look into the folder`(
      durability: SQLiteDurability
    ) throws {
      let test = try TestStore()
      let path = test.folder.path
      // Root may look into every folder, so this thread is another user meanwhile.
      let setUser = dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: (@convention(c) (uid_t) -> CInt).self) }
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      if geteuid() == 0 { _ = setUser?(65_534) }
      defer {
        if geteuid() == 0 { _ = setUser?(0) }
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      }
      var status = stat()
      #expect(stat(path + "/store.sqlite", &status) == -1)
      try test.store.writeAndWait(durability: durability) { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
      let saved = try test.store.writeAndWait { try $0.query("SELECT id FROM artwork", as: Int.self) }
      #expect(saved == [1])
    }
  #endif

  @Test func `a write into a file of another name, or in memory, succeeds`() async throws {
    let test = try TestStore()
    let path = test.folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: test.store.path)
    for store in [try SQLiteStore(path: path), try SQLiteStore(path: ":memory:")] {
      try await store.write(durability: .full) { try $0.execute("CREATE TABLE t (a)") }
      #expect(try await store.read { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
    }
  }

  @Test func `vacuum and checkpoint shrink file and log`() async throws {
    let test = try TestStore()
    let all = (1...2000).map { Artwork(id: $0, title: String(repeating: "x", count: 500)) }
    try await test.store.write { _ = try $0.save(all, into: "artwork") }
    try await test.store.write { _ = try $0.execute("DELETE FROM artwork") }
    try await test.store.checkpoint()
    let before = try size(test.store.path)
    try await test.store.vacuum()
    try await test.store.checkpoint()
    #expect(try size(test.store.path) < before / 10)
    #expect(try size(test.store.path + "-wal") == 0)
  }

  private func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? -1
  }

  @Test func `the trace hook sees statements but no values`() async throws {
    let log = Log()
    let test = try TestStore(SQLiteConfiguration(trace: { log.append($0.sql) }))
    let secret = "canary"
    try await test.store.write { db in
      try db.save(Artwork(id: 1, title: secret), into: "artwork")
      try db.execute("UPDATE artwork SET note = \(secret)")
    }
    #expect(log.lines.contains("UPDATE artwork SET note = ?"))
    #expect(!log.lines.contains { $0.contains(secret) })
  }

  @Test func `saving unchanged rows again writes nothing to the log`() async throws {
    let test = try TestStore()
    let all = (1...1000).map { Artwork(id: $0, title: "title \($0)") }
    try await test.store.write { _ = try $0.save(all, into: "artwork") }
    try await test.store.checkpoint()
    let counts = try await test.store.write(durability: .full) { try $0.save(all, into: "artwork") }
    #expect(counts.unchanged == 1000)
    #expect(try size(test.store.path + "-wal") == 0)
  }
}

@Suite(.limited) struct ChangeTests {
  @Test func `a commit that changed a table ticks, one that did not does not`() async throws {
    let test = try TestStore(migrations: [
      TestStore.artwork, SQLiteMigration("other") { try $0.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") },
    ])
    let store = test.store
    let one = Artwork(id: 1, title: "one")
    try await store.write { _ = try $0.save(one, into: "artwork") }
    var ticks = store.changes(in: "Artwork").makeAsyncIterator()
    var ends = store.changes(in: "other").makeAsyncIterator()
    let before = Log()
    let counter = Task {
      for await _ in store.changes(in: "artwork") { before.append("tick") }
    }
    try await store.write { _ = try $0.save(one, into: "artwork") }
    try? await store.write { db in
      try db.execute("DELETE FROM artwork")
      throw CancellationError()
    }
    try await store.write { _ = try $0.execute("INSERT INTO other VALUES (1)") }
    await ends.next()
    try await store.write { _ = try $0.execute("UPDATE artwork SET title = 'two'") }
    await ticks.next()
    await store.close()
    await counter.value
    #expect(before.lines.count <= 1)
    #expect(await ticks.next() == nil)
  }

  @Test func `a trigger's table ticks too`() async throws {
    let test = try TestStore(migrations: [
      TestStore.artwork,
      SQLiteMigration("log") { db in
        try db.execute("CREATE TABLE log (id INTEGER)")
        try db.execute(
          "CREATE TRIGGER t AFTER INSERT ON artwork BEGIN INSERT INTO log VALUES (new.id); END")
      },
    ])
    var ticks = test.store.changes(in: "log").makeAsyncIterator()
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(await ticks.next() != nil)
  }
}
