import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Saving requests for one URL that are under way at the same time.
@Suite(.limited) struct OverlappingSaveTests {
  private let test: TestStore
  private let gate = TestGate()
  private let clock = ManualClock()
  private let request = Request<NetworkResponse>.get("a")

  init() throws { test = try TestStore() }

  private var titles: [String] { get async throws { try await test.artworks.map(\.title) } }

  private var saving: SaveBehavior {
    .saveRecords([Artwork].self, into: "artwork", in: test.store, deletingOthers: .all)
  }

  /// A server whose records have the number of the send as title and, if asked for, as number; it holds the first
  /// request at the gate.
  private func server(counting: Bool = false) -> ClosureTransport {
    ClosureTransport(numbered: { [gate] number, request in
      if number == 1 { await gate.pass() }
      let body = try JSONEncoder().encode([Artwork(id: counting ? number : 7, title: "\(number)")])
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(body))
    })
  }

  private func client(_ transport: ClosureTransport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  /// Sends a request that is held, runs the closure meanwhile, and returns the events of the held one.
  private func hold(
    _ client: NetworkClient, _ request: Request<NetworkResponse>, _ meanwhile: () async throws -> Void
  ) async throws -> [String] {
    let slow = Task { try await client.send(request) }
    await gate.waitForArrivals(1)
    try await meanwhile()
    gate.open()
    return try await slow.value.request.call.events.map(\.message)
  }

  private let outdated = "not saved: the response to a request that was sent later is saved"

  @Test func `a response does not replace rows that a later request has saved`() async throws {
    let client = client(server(), saving)
    let events = try await hold(client, request) {
      let events = try await client.send(request).request.call.events
      #expect(!events.map(\.message).contains(outdated))
    }
    #expect(try await titles == ["2"])
    #expect(events.contains(outdated))
    _ = try await client.send(request)
    #expect(try await titles == ["3"])
  }

  @Test func `a request with its own save does not replace the rows of a later request either`() async throws {
    let client = client(server())
    let events = try await hold(client, request.with(saving)) {
      _ = try await client.send(request.with(saving).with(\.caching, .reload))
    }
    #expect(try await titles == ["2"])
    #expect(events.contains(outdated))
  }

  @Test func `a request that later ones no longer join does not replace the rows that they saved`() async throws {
    let client = client(server(), .coalescing(), saving)
    _ = try await hold(client, request) {
      _ = try await client.send(.post("a")) as NetworkResponse
      _ = try await client.send(request)
    }
    #expect(try await titles == ["3"])
  }

  @Test func `of many concurrent requests the one that was sent last determines the rows`() async throws {
    let transport = ClosureTransport(numbered: { [gate] number, request in
      await gate.pass()
      let body = try JSONEncoder().encode([Artwork(id: 7, title: "\(number)")])
      return NetworkResponse(request: request, statusCode: 200, body: .data(body))
    })
    let client = client(transport, saving)
    var calls: [Task<NetworkResponse, any Error>] = []
    for number in 1...20 {
      calls.append(Task { [request] in try await client.send(request) })
      await gate.waitForArrivals(number)
      clock.advance(by: .seconds(1))
    }
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(try await titles == ["20"])
  }

  @Test func `of two requests the one that was sent later determines the rows, whichever began first`() async throws {
    let (passing, request) = (gate, request)
    let holding = ClosureBehavior("holds", order: .gate) { request, next in
      if request.headers["X-Request-ID"] == "1" { await passing.pass() }
      return try await next(request)
    }
    let transport = ClosureTransport(numbered: { number, request in
      let body = try JSONEncoder().encode([Artwork(id: 7, title: "\(number)")])
      return NetworkResponse(request: request, statusCode: 200, body: .data(body))
    })
    let client = client(transport, saving, holding)
    let held = Task { try await client.send(Request<NetworkResponse>.get("a", headers: ["X-Request-ID": "1"])) }
    await gate.waitForArrivals(1)
    _ = try await client.send(request)
    clock.advance(by: .seconds(1))
    gate.open()
    _ = try await held.value
    #expect(try await titles == ["2"])
  }

  @Test func `a later response whose save fails does not prevent other saves`() async throws {
    let client = client(server(), saving)
    let store = test.store
    _ = try await hold(client, request) {
      await store.suspend()
      await #expect(throws: NetworkError.self) { try await client.send(request) }
      store.resume()
    }
    #expect(try await titles == ["1"])
  }

  @Test func `a save of other rows, or of a part of them, is not outdated`() async throws {
    try await test.store.write { try $0.createTable("other", for: Artwork.self) }
    let client = client(server())
    let others: [SaveBehavior] = [
      .saveRecords([Artwork].self, into: "other", in: test.store), .ingest(into: "artwork", in: test.store),
      .persist(in: test.store) { _, _ in },
    ]
    let events = try await hold(client, request.with(saving)) {
      for other in others { _ = try await client.send(request.with(other)) }
    }
    #expect(!events.contains(outdated))
    #expect(try await titles == ["1"])
  }

  @Test(arguments: [
    (SQL("id = \(1) AND note = \(Data([1]))"), SQL("id = \(1) AND note = \(Data([2]))")),
    (SQL("title = \("a\nb") OR note = \("c")"), SQL("title = \("a") OR note = \("b\nc")")),
  ])
  func `a save that deletes other rows is not outdated`(slow: SQL, fast: SQL) async throws {
    let client = client(server())
    func saving(_ condition: SQL) -> SaveBehavior {
      .saveRecords([Artwork].self, into: "artwork", in: test.store, deletingOthers: .rows(where: condition))
    }
    let events = try await hold(client, request.with(saving(slow))) {
      _ = try await client.send(request.with(saving(fast)))
    }
    #expect(!events.contains(outdated))
  }

  @Test func `a request with other fields saves its own response`() async throws {
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store)
    let client = client(server(counting: true), saving)
    _ = try await hold(client, .get("a", headers: ["X-Page": "1"])) {
      _ = try await client.send(.get("a", headers: ["X-Page": "2"])) as NetworkResponse
    }
    #expect(try await titles == ["1", "2"])
  }

  @Test func `of two requests that change data both responses are saved`() async throws {
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store)
    let client = client(server(counting: true), saving)
    _ = try await hold(client, .post("a")) { _ = try await client.send(.post("a")) as NetworkResponse }
    #expect(try await titles == ["1", "2"])
  }

  @Test func `a behavior that saves a call twice does not take its own save for a later one`() async throws {
    let counts = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store)
    let client = client(server(), counts)
    gate.open()
    let response = try await client.send(request.with(counts))
    let saved = response.info[SavedRows.self]
    #expect((saved?.inserted, saved?.unchanged) == (1, 1))
  }
}
