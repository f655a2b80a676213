import Foundation
import RequestBehaviorsSQLite
import Testing

/// Tables beside which triggers keep an index in a virtual table, as other programs make them.
@Suite(.limited) struct TrustedSchemaTests {
  /// A kind of index: the script that makes it, and a search that finds artworks by their titles' first word.
  struct Index: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var script: String
    var search: String
  }

  static let indexes = [
    Index(
      testDescription: "FTS5",
      script: """
        CREATE VIRTUAL TABLE found USING fts5(title, content='artwork', content_rowid='id');
        CREATE TRIGGER artwork_ai AFTER INSERT ON artwork BEGIN
          INSERT INTO found(rowid, title) VALUES (new.id, new.title); END;
        CREATE TRIGGER artwork_ad AFTER DELETE ON artwork BEGIN
          INSERT INTO found(found, rowid, title) VALUES ('delete', old.id, old.title); END;
        CREATE TRIGGER artwork_au AFTER UPDATE ON artwork BEGIN
          INSERT INTO found(found, rowid, title) VALUES ('delete', old.id, old.title);
          INSERT INTO found(rowid, title) VALUES (new.id, new.title); END;
        """,
      search: "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid"),
    Index(
      testDescription: "FTS4",
      script: """
        CREATE VIRTUAL TABLE found USING fts4(title, content='artwork');
        CREATE TRIGGER artwork_bu BEFORE UPDATE ON artwork BEGIN DELETE FROM found WHERE docid = old.id; END;
        CREATE TRIGGER artwork_bd BEFORE DELETE ON artwork BEGIN DELETE FROM found WHERE docid = old.id; END;
        CREATE TRIGGER artwork_au AFTER UPDATE ON artwork BEGIN
          INSERT INTO found(docid, title) VALUES (new.id, new.title); END;
        CREATE TRIGGER artwork_ai AFTER INSERT ON artwork BEGIN
          INSERT INTO found(docid, title) VALUES (new.id, new.title); END;
        """,
      search: "SELECT docid FROM found WHERE found MATCH ? ORDER BY docid"),
    Index(
      testDescription: "R-tree",
      script: """
        CREATE VIRTUAL TABLE found USING rtree(id, low, high);
        CREATE TRIGGER artwork_ai AFTER INSERT ON artwork BEGIN
          INSERT INTO found VALUES (new.id, new.price, new.price); END;
        CREATE TRIGGER artwork_ad AFTER DELETE ON artwork BEGIN DELETE FROM found WHERE id = old.id; END;
        CREATE TRIGGER artwork_au AFTER UPDATE ON artwork BEGIN
          UPDATE found SET low = new.price, high = new.price WHERE id = old.id; END;
        """,
      search: """
        SELECT found.id FROM found JOIN artwork ON artwork.id = found.id
        WHERE high = price AND artwork.title LIKE ? || '%' ORDER BY 1
        """),
  ]

  private func makeTest(_ index: Index, trusts: Bool = true) throws -> TestStore {
    try TestStore(
      SQLiteConfiguration(trustsSchema: trusts),
      migrations: [TestStore.artwork, SQLiteMigration("index") { try $0.execute(script: index.script) }])
  }

  private func find(_ word: String, _ index: Index, in store: SQLiteStore) async throws -> [Int] {
    try await store.read { try $0.query(SQL(verbatim: index.search, arguments: [word]), as: Int.self) }
  }

  @Test(arguments: indexes) func `every kind of save is found by a search`(_ index: Index) async throws {
    let test = try makeTest(index)
    let store = test.store
    let all = (1...300).map { Artwork(id: $0, title: $0 % 2 == 0 ? "even" : "odd", price: Double($0)) }
    let first = try await store.write { try $0.save(all, into: "artwork") }
    #expect(first.inserted == 300)
    #expect(try await find("odd", index, in: store).count == 150)
    let again = try await store.write {
      try $0.save([Artwork(id: 1, title: "red", price: 7), all[1]], into: "artwork")
    }
    #expect(again.updated == 1)
    #expect(again.unchanged == 1)
    #expect(try await find("red", index, in: store) == [1])
    #expect(try await find("odd", index, in: store).count == 149)
    let json = Data(#"[{"id": 2, "title": "blue", "price": 8}]"#.utf8)
    let ingested = try await store.write { try $0.ingest(json, into: "artwork") }
    #expect(ingested.updated == 1)
    #expect(try await find("blue", index, in: store) == [2])
    let others = try await store.save([all[2]], into: "artwork", deletingOthers: .all)
    #expect(others.deleted == 299)
    #expect(try await find("blue", index, in: store) == [])
    #expect(try await find("odd", index, in: store) == [3])
  }

  @Test(arguments: indexes) func `rows of another program are found, and that program finds the rows of this one`(
    _ index: Index
  ) async throws {
    let test = try makeTest(index)
    let other = try SQLiteStore(path: test.store.path, configuration: SQLiteConfiguration(trustsSchema: true))
    try await other.write { try $0.execute("INSERT INTO artwork (id, title) VALUES (1, 'theirs')") }
    #expect(try await find("theirs", index, in: test.store) == [1])
    try await test.store.write { try $0.save(Artwork(id: 2, title: "ours"), into: "artwork") }
    #expect(try await find("ours", index, in: other) == [2])
    #expect(try await other.write { try $0.execute("DELETE FROM artwork WHERE title = 'ours'") } == 1)
    #expect(try await find("ours", index, in: test.store) == [])
  }

  @Test(arguments: indexes) func `a schema that is not trusted is refused, and the message says what to do`(
    _ index: Index
  ) async throws {
    let test = try makeTest(index, trusts: false)
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.write { try $0.save(Artwork(id: 1, title: "odd"), into: "artwork") }
    }
    #expect(error?.message.contains("unsafe use of virtual table") == true)
    #expect(error?.message.contains("SQLiteConfiguration.trustsSchema") == true)
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `a view over a virtual table is read where the schema is trusted`() async throws {
    let script = SQLiteMigration("view") { db in
      try db.execute(script: "CREATE VIRTUAL TABLE f USING fts4(x); CREATE VIEW v AS SELECT x FROM f")
    }
    for trusts in [true, false] {
      let test = try TestStore(SQLiteConfiguration(trustsSchema: trusts), migrations: [script])
      let rows = Result { [store = test.store] in
        try store.readAndWait { try $0.query("SELECT x FROM v", as: String.self) }
      }
      #expect((rows.failureCode == nil) == trusts)
    }
  }
}
