import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct SaveArtworks: ResponseSaver {
  func save(_ response: NetworkResponse, in db: Database) throws {
    try db.save(try response.decode([Artwork].self), into: "artwork")
  }
}

@Suite(.limited) struct SaveBehaviorTests {
  struct Stop: Error {}

  private let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
  private let artworks = [Artwork(id: 1, title: "one"), Artwork(id: 2, title: "two", note: "n")]

  private func client(_ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    NetworkClient(baseURL: mock.baseURL, behaviors: behaviors, transport: mock)
  }

  @Test func `the rows of a saver are committed when the caller gets the response`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").respond(json: artworks)
    let received: [Artwork] = try await client([.persist(SaveArtworks(), in: test.store)]).send(.get("artworks"))
    #expect(received == artworks)
    let other = try SQLiteStore(path: test.store.path)
    #expect(try await other.read { try $0.query("SELECT * FROM artwork", as: Artwork.self) } == artworks)
  }

  @Test func `a saver that throws undoes its work and fails the request, with the response in the error`() async throws
  {
    let test = try TestStore()
    mock.on(.get, "artworks").respond(json: artworks)
    let client = client([
      .persist(in: test.store) { response, db in
        try SaveArtworks().save(response, in: db)
        throw Stop()
      }
    ])
    let error = await #expect(throws: NetworkError.self) { try await client.send(Request<[Artwork]>.get("artworks")) }
    #expect(error?.code == .persistenceFailed)
    #expect(error?.underlyingError is Stop)
    #expect(try error?.decode([Artwork].self) == artworks)
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `failures, unverified responses and 304s are not saved`() async throws {
    let test = try TestStore()
    let calls = Log()
    let behaviors: [any RequestBehavior] = [
      .persist(in: test.store) { response, _ in calls.append("\(response.statusCode)") },
      ClosureBehavior("unverified") { request, next in
        var response = try await next(request)
        if request.headers.contains("X-Unverified") { response.isVerified = false }
        return response
      },
    ]
    mock.on(.get, "artworks").respond(500, json: artworks).respond(304).respond(json: artworks).respond(json: artworks)
    await #expect(throws: NetworkError.self) { try await client(behaviors).send(Request<[Artwork]>.get("artworks")) }
    _ = try await client(behaviors).send(
      Request<NetworkResponse>.get("artworks").with(header: "If-None-Match", "\"1\""))
    let forged = await #expect(throws: NetworkError.self) {
      try await client(behaviors).send(Request<[Artwork]>.get("artworks").with(header: "X-Unverified", "1"))
    }
    #expect(forged?.code == .intercepted)
    #expect(calls.lines.isEmpty)
    _ = try await client(behaviors).send(Request<[Artwork]>.get("artworks"))
    #expect(calls.lines == ["200"])
  }

  @Test func `a request saves its decoded value, which is decoded once`() async throws {
    let test = try TestStore()
    mock.on(.get, "counted").respond(json: ["id": 7])
    let value = try await client().send(
      Request<Counted>.get("counted").persist(in: test.store) { value, db in
        try db.save(Artwork(id: value.id, title: "t"), into: "artwork")
      })
    #expect(value.id == 7)
    #expect(Counted.log.lines.count == 1)
    #expect(try await test.artworks.map(\.id) == [7])
  }

  private struct Counted: Decodable, Sendable {
    static let log = Log()
    enum CodingKeys: CodingKey { case id }
    let id: Int

    init(from decoder: any Decoder) throws {
      Self.log.append("decoded")
      id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    }
  }

  @Test func `a body that is replaced further out is decoded again`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").respond(json: artworks)
    let replacement = try JSONEncoder().encode([artworks[1]])
    let behavior = ClosureBehavior("replace", order: .first) { request, next in
      var response = try await next(request)
      response.body = .data(replacement)
      return response
    }
    let received = try await client([behavior]).send(
      Request<[Artwork]>.get("artworks").persist(in: test.store) { artworks, db in
        try db.save(artworks, into: "artwork")
      })
    #expect(received == [artworks[1]])
    #expect(try await test.artworks == artworks)
  }

  @Test func `records are saved from a place in the body, and counted`() async throws {
    let test = try TestStore()
    mock.on(.get, "page").respond(json: ["data": ["items": artworks]])
    mock.on(.get, "one").respond(json: Artwork(id: 2, title: "zwei"))
    try await test.store.write { _ = try $0.save([Artwork(id: 9, title: "old"), artworks[0]], into: "artwork") }
    let page = try await client().send(
      Request<NetworkResponse>.get("page").with(
        .saveRecords([Artwork].self, at: "data.items", into: "artwork", in: test.store, deletingOthers: .all)))
    let counts = try #require(page.info[SavedRows.self])
    #expect((counts.inserted, counts.updated, counts.unchanged, counts.deleted) == (1, 0, 1, 1))
    let one = try await client([.saveRecords([Artwork].self, into: "artwork", in: test.store)]).send(
      Request<NetworkResponse>.get("one"))
    #expect(one.info[SavedRows.self]?.updated == 1)
    #expect(try await test.artworks.map(\.title) == ["one", "zwei"])
  }

  @Test func `records of the wrong shape are an error that names the place`() async throws {
    let test = try TestStore()
    mock.on(.get, "page").respond(json: ["data": [["id": 1]]])
    let error = await #expect(throws: NetworkError.self) {
      try await client().send(
        Request<NetworkResponse>.get("page").with(
          .saveRecords([Artwork].self, at: "data", into: "artwork", in: test.store)))
    }
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.contains("title") == true)
    #expect(error?.response != nil)
  }

  @Test func `a 404 that the request reads as nil saves nothing and succeeds`() async throws {
    let test = try TestStore()
    let calls = Log()
    mock.on(.get, "none").respond(404, json: artworks)
    let behaviors: [any RequestBehavior] = [
      .saveRecords([Artwork].self, into: "artwork", in: test.store), .ingest(into: "artwork", in: test.store),
      .persist(SaveArtworks(), in: test.store), .persist(in: test.store) { _, _ in calls.append("closure") },
    ]
    for behavior in behaviors {
      #expect(try await client([behavior]).send(Request<[Artwork]?>.get("none").nilWhenNotFound()) == nil)
    }
    #expect(try await test.artworks.isEmpty)
    let request = Request<[Artwork]?>.get("none").nilWhenNotFound().persist(in: test.store) { artworks, db in
      calls.append("\(artworks == nil)")
    }
    #expect(try await client().send(request) == nil)
    #expect(calls.lines == ["true"])
    await #expect(throws: NetworkError.self) { try await client(behaviors).send(Request<[Artwork]?>.get("none")) }
  }

  @Test func `a body is ingested without being decoded`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").respond(json: artworks).respond(jsonText: #"[{"id": "x"}]"#)
    let client = client([.ingest(into: "artwork", in: test.store)])
    let response = try await client.send(Request<NetworkResponse>.get("artworks"))
    #expect(response.info[SavedRows.self]?.inserted == 2)
    #expect(try await test.artworks == artworks)
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(Request<NetworkResponse>.get("artworks"))
    }
    #expect((error?.underlyingError as? SQLiteError)?.row == 0)
  }

  @Test func `several savers of a configuration and a request all save`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").respond(json: artworks)
    let calls = Log()
    let client = client([
      .persist(in: test.store) { _, _ in calls.append("a") }, .persist(in: test.store) { _, _ in calls.append("b") },
    ])
    _ = try await client.send(
      Request<[Artwork]>.get("artworks").persist(in: test.store) { _, _ in calls.append("c") })
    #expect(calls.lines.sorted() == ["a", "b", "c"])
  }

  @Test func `a streamed response is read into memory before it is saved`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").stream([try JSONEncoder().encode(artworks)])
    let response = try await client([.persist(SaveArtworks(), in: test.store)]).send(
      Request<NetworkResponse>.get("artworks"))
    #expect(try response.decode([Artwork].self) == artworks)
    #expect(try await test.artworks == artworks)
  }

  @Test func `a stream passes by a configuration that saves, and is refused on a request that does`() async throws {
    let test = try TestStore()
    mock.on(.get, "artworks").stream([try JSONEncoder().encode(artworks)])
    let client = client([.persist(SaveArtworks(), in: test.store)])
    let response = try await client.stream(.get("artworks"))
    #expect(try await response.buffered().decode([Artwork].self) == artworks)
    #expect(response.request.call.events.map(\.message) == ["not saved: the response is streamed"])
    #expect(try await test.artworks.isEmpty)
    let error = await #expect(throws: NetworkError.self) {
      try await client.stream(.get("artworks").with(.persist(SaveArtworks(), in: test.store)))
    }
    #expect(error?.code == .invalidBehavior)
  }
}
