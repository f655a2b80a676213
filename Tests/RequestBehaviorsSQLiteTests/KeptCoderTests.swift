import RequestBehaviorsSQLite
import Testing

/// Coders that outlive their row throw, and do not read released memory.
@Suite(.limited) struct KeptCoderTests {
  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private struct Keeper: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) throws { self.decoder = decoder }
  }

  private struct Lazy: Decodable {
    enum Keys: CodingKey { case a }
    let container: KeyedDecodingContainer<Keys>
    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Keys.self) }
  }

  private struct Single: Decodable {
    let container: any SingleValueDecodingContainer
    init(from decoder: any Decoder) throws { container = try decoder.singleValueContainer() }
  }

  @Test func `a decoder that is kept throws when its rows are gone`() throws {
    let store = try TestStore.inMemory(
      "CREATE TABLE t (a TEXT, b INTEGER); INSERT INTO t VALUES ('one', 1), ('two', 2)")
    let (keepers, lazies, singles) = try store.writeAndWait { db in
      try (
        db.query("SELECT a, b FROM t", as: Keeper.self), db.query("SELECT a, b FROM t", as: Lazy.self),
        db.query("SELECT a FROM t", as: Single.self)
      )
    }
    let check = {
      #expect(throws: DecodingError.self) { try Row(from: keepers[0].decoder) }
      #expect(throws: DecodingError.self) { try lazies[0].container.decode(String.self, forKey: .a) }
      #expect(throws: DecodingError.self) { try singles[0].container.decode(String.self) }
      #expect(singles[0].container.decodeNil())
    }
    check()
    // The change of the schema finalises the statements; others take their place.
    try store.writeAndWait { db in
      try db.execute(script: "CREATE TABLE z (a)")
      for number in 0..<60 {
        try db.forEach("SELECT 'FOREIGN' AS x, \(number) AS y FROM t", as: String.self) { _ in check() }
      }
    }
  }

  private final class Sink: Sendable {
    // Used by one thread at a time: the test waits for each save.
    nonisolated(unsafe) var encoders: [any Encoder] = []
    // As above.
    nonisolated(unsafe) var containers: [KeyedEncodingContainer<Lazy.Keys>] = []
  }

  private struct Leaking: Encodable {
    let a: String
    let sink: Sink

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Lazy.Keys.self)
      try container.encode(a, forKey: .a)
      sink.encoders.append(encoder)
      sink.containers.append(container)
    }
  }

  @Test func `an encoder that is kept throws when its save is over`() throws {
    let store = try TestStore.inMemory("CREATE TABLE t (a TEXT)")
    let sink = Sink()
    try store.writeAndWait { _ = try $0.save(Leaking(a: "one", sink: sink), into: "t") }
    #expect(throws: SQLiteError.self) { try sink.containers[0].encode("two", forKey: .a) }
    try store.writeAndWait { try $0.execute(script: "CREATE TABLE z (a)") }
    #expect(throws: SQLiteError.self) { try sink.containers[0].encode("two", forKey: .a) }
    #expect(throws: SQLiteError.self) { try Row(a: "x", b: 1).encode(to: sink.encoders[0]) }
    #expect(try store.readAndWait { try $0.query("SELECT a FROM t", as: String.self) } == ["one"])
  }
}
