import Foundation
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct SaveTests {
  @Test func `saving inserts new records, updates changed ones and keeps the others`() async throws {
    let test = try TestStore()
    let first = [Artwork(id: 1, title: "one"), Artwork(id: 2, title: "two", note: "n"), Artwork(id: 3, title: "three")]
    let inserted = try await test.store.write { try $0.save(first, into: "artwork") }
    #expect((inserted.inserted, inserted.updated, inserted.unchanged) == (3, 0, 0))

    let second = [Artwork(id: 1, title: "one"), Artwork(id: 2, title: "zwei"), Artwork(id: 4, title: "four")]
    let counts = try await test.store.write { try $0.save(second, into: "artwork") }
    #expect((counts.inserted, counts.updated, counts.unchanged) == (1, 1, 1))
    #expect(try await test.artworks == [second[0], second[1], first[2], second[2]])
  }

  @Test func `many rows are saved as few are`() async throws {
    let test = try TestStore()
    let all = (1...1005).map { Artwork(id: $0, title: "title \($0)", note: $0 % 3 == 0 ? nil : "note \($0)") }
    let counts = try await test.store.write { try $0.save(all, into: "artwork") }
    #expect(counts.inserted == 1005)
    #expect(try await test.artworks == all)
    let again = try await test.store.write { try $0.save(all, into: "artwork") }
    #expect((again.inserted, again.updated, again.unchanged) == (0, 0, 1005))
  }

  @Test func `a nil after a value is saved as NULL`() async throws {
    let test = try TestStore()
    for count in [2, 1000] {
      let all = (1...count).map { Artwork(id: $0, title: "t", note: $0 % 2 == 1 ? "set" : nil) }
      try await test.store.write { _ = try $0.save(all, into: "artwork") }
      #expect(try await test.artworks == all)
    }
  }

  @Test func `rows that are not among the saved ones are deleted on request`() async throws {
    let test = try TestStore()
    let all = (1...6).map { Artwork(id: $0, title: $0 <= 3 ? "a" : "b") }
    try await test.store.write { _ = try $0.save(all, into: "artwork") }
    let counts = try await test.store.write { db in
      try db.save([all[0], all[1]], into: "artwork", deletingOthers: .rows(where: "title = \("a")"))
    }
    #expect((counts.unchanged, counts.deleted) == (2, 1))
    #expect(try await test.artworks.map(\.id) == [1, 2, 4, 5, 6])
    let none = try await test.store.write { db in
      try db.save([Artwork](), into: "artwork", deletingOthers: .all)
    }
    #expect(none.deleted == 5)
  }
}
