import Foundation
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct FaultTests {
  private let rows = (1...200).map { Artwork(id: $0, title: String(repeating: "title ", count: 100)) }

  private func openingError(_ path: String) -> SQLiteError? {
    #expect(throws: SQLiteError.self) { try SQLiteStore(path: path, migrations: [TestStore.artwork]) }
  }

  @Test func `a file that is not a database is refused and not changed`() throws {
    let folder = try TemporaryFolder()
    let text = Data(String(repeating: "no database at all ", count: 100).utf8)
    try text.write(to: URL(fileURLWithPath: folder.file()))
    let error = openingError(folder.file())
    #expect(error?.code == .notADatabase)
    #expect(error?.path == folder.file())
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file())) == text)
  }

  @Test func `a folder that does not exist, and a folder in the file's place, are named`() throws {
    let folder = try TemporaryFolder()
    #expect(openingError(folder.file("none/store.sqlite"))?.code == .cannotOpen)
    #expect(openingError(folder.path)?.code == .cannotOpen)
  }

  @Test func `an empty path and one with NUL are refused, for a backup too`() async throws {
    let folder = try TemporaryFolder()
    #expect(openingError("")?.message.contains("the path is empty") == true)
    #expect(openingError(folder.file("a\0b"))?.message.contains("NUL") == true)
    let test = try TestStore()
    for path in ["", test.folder.file("a\0b")] {
      let error = await #expect(throws: SQLiteError.self) { try await test.store.backup(to: path) }
      #expect(error?.code == .misuse)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: test.folder.file("a")))
  }

  @Test func `a read-only file is an error that says so`() async throws {
    let test = try TestStore()
    await test.store.close()
    let vfs = FaultVFS()
    vfs.makeReadOnly()
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteStore(path: test.store.path, configuration: vfs.configuration(), migrations: [TestStore.artwork])
    }
    #expect(error?.code == .readOnly)
    #expect(error?.message.contains("can only be read") == true)
    #expect(error?.path == test.store.path)
  }

  @Test func `the error for a missing folder contains the system's words`() throws {
    let folder = try TemporaryFolder()
    #expect(openingError(folder.file("none/store.sqlite"))?.message.contains("No such file or directory") == true)
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write anywhere"))
  func `a folder that cannot be written to is an error`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
    #expect([.cannotOpen, .readOnly].contains(openingError(folder.file())?.code))
  }

  #if os(Linux)
    /// Whether `/sys` has the kernel's own file system, in which no user may create a file.
    private static let hasKernelFiles =
      (try? String(contentsOfFile: "/proc/mounts", encoding: .utf8))?.contains(" /sys sysfs ") == true

    @Test(.enabled(if: hasKernelFiles, "the system has no such folder"))
    func `the error for a folder in which no file may be created says so`() {
      let error = openingError("/sys/store.sqlite")
      #expect([EACCES, EPERM, EROFS].contains(error?.systemErrno))
    }
  #endif

  @Test func `a damaged page is reported as damage`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save(rows, into: "artwork") }
    await test.store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: test.store.path))
    for offset in 4096 * 2..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    try bytes.write(to: URL(fileURLWithPath: test.store.path))
    let error = await #expect(throws: SQLiteError.self) {
      let store = try SQLiteStore(path: test.store.path, migrations: [TestStore.artwork])
      return try await store.read { try $0.query("SELECT * FROM artwork", as: Artwork.self) }
    }
    #expect(error?.code == .corrupt)
  }

  @Test func `a file that was cut short is reported as damage`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save(rows, into: "artwork") }
    await test.store.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: test.store.path))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: test.store.path))
    let error = await #expect(throws: SQLiteError.self) {
      let store = try SQLiteStore(path: test.store.path, migrations: [TestStore.artwork])
      return try await store.read { try $0.query("SELECT * FROM artwork", as: Artwork.self) }
    }
    #expect(error?.code == .corrupt)
  }

  @Test func `a full disk fails the write that meets it, whole, and the next one works`() async throws {
    let test = try TestStore()
    let store = test.store
    try await store.write { _ = try $0.save([rows[0]], into: "artwork") }
    let limit = try await store.write { db in
      let pages = try db.first("PRAGMA page_count", as: Int.self) ?? 0
      let pragma = "PRAGMA max_page_count = \(pages + 10)"
      return try db.first(SQL(verbatim: pragma), as: Int.self)
    }
    #expect(limit != nil)
    let error = await #expect(throws: SQLiteError.self) {
      try await store.write { _ = try $0.save(rows, into: "artwork") }
    }
    #expect(error?.code == .full)
    #expect(try await test.artworks.count == 1)
    try await store.write { _ = try $0.save(rows[1], into: "artwork") }
    #expect(try await test.artworks.count == 2)
    #expect(try await test.isIntact)
  }

  @Test func `two stores that write one file wait for each other`() async throws {
    let test = try TestStore()
    let other = try SQLiteStore(path: test.store.path, migrations: [TestStore.artwork])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (offset, store) in [(0, test.store), (1, other)] {
        group.addTask {
          for id in 0..<150 {
            try await store.write { db in
              let count = try db.first("SELECT count(*) FROM artwork", as: Int.self) ?? 0
              try db.save(Artwork(id: id * 2 + offset, title: "\(count)"), into: "artwork")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    // Each write counted what all before it had saved: none read before another's commit and wrote after it.
    #expect(try await Set(test.artworks.map(\.title)) == Set((0..<300).map { "\($0)" }))
  }

  @Test func `a lock that another holds too long is an error in time`() async throws {
    let test = try TestStore()
    let hasty = try SQLiteStore(
      path: test.store.path, configuration: SQLiteConfiguration(busyTimeout: .milliseconds(20)))
    let code = try await test.store.write { _ in
      Result { try hasty.writeAndWait { _ = try $0.execute("DELETE FROM artwork") } }.failureCode
    }
    #expect(code == .busy)
  }

  @Test func `the error of a constraint names the kind of violation`() async throws {
    let test = try TestStore()
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.write { try $0.execute("INSERT INTO artwork (id, title) VALUES (1, NULL)") }
    }
    #expect(error?.code == .constraint)
    #expect(error?.extendedCode == 1299)
    #expect(error?.description.contains("artwork.title") == true)
  }

  @Test func `the error for a mistake in the SQL has its position`() async throws {
    let test = try TestStore()
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.read { try $0.query("SELECT titel FROM artwork", as: String.self) }
    }
    #expect(error?.message == "no such column: titel")
    #expect(error?.offset == 7)
    #expect(error?.sql == "SELECT titel FROM artwork")
  }
}
