import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// The main road: enqueue, drain, and what is left in the file.
@Suite(.limited) struct OutboxTests {
  @Test func `a request is kept, sent with its key, and leaves the queue when the server has it`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let id = try await outbox.enqueue(.post("likes/\(1)", body: .json(["a": 1]), query: ["from": "list"]))
    #expect(world.sent.isEmpty)
    let left = try await outbox.drain()
    #expect(left.isEmpty)
    let request = try #require(world.mock.sent.first)
    #expect(request.url.absoluteString == "https://api.example.com/likes/1?from=list")
    #expect(request.endpoint == "likes/{}")
    #expect(request.headers["Idempotency-Key"] == id.uuidString.lowercased())
    #expect(try request.json([String: Int].self) == ["a": 1])
    #expect(world.mock.sent.count == 1)
    #expect(try await outbox.state(of: id) == .delivered)
  }

  @Test func `a row and its entry are saved together, and the response with the end of the entry`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let note = Note(id: UUID(), text: "milk")
    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    try await outbox.drain()
    let saved: [Note] = try await world.store.read { try $0.query("SELECT * FROM note") }
    #expect(saved == [Note(id: note.id, text: "milk", serverID: 7)])
    #expect(try await world.states == [5])
  }

  @Test func `an error in the caller's transaction undoes the row and the entry`() async throws {
    struct Stop: Error {}
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    await #expect(throws: Stop.self) {
      try await outbox.write { db, queue in
        try queue.enqueue(Ping(number: 1), in: db)
        throw Stop()
      }
    }
    #expect(try await world.states.isEmpty)
  }

  @Test func `a caller who waits gets the value of the response`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    outbox.start()
    let entry = try await outbox.enqueue(CreateNote(note: Note(id: UUID(), text: "tea")))
    #expect(try await entry.value == Receipt(id: 7))
    // Also when it is read again, after the delivery.
    #expect(try await entry.value == Receipt(id: 7))
    await outbox.stop()
  }

  @Test func `the value of an entry that another run delivered is no longer known`() async throws {
    let world = try OutboxWorld()
    let entry: OutboxEntry<CreateNote>
    do {
      let first = try await world.outbox()
      entry = try await first.enqueue(CreateNote(note: Note(id: UUID(), text: "tea")))
      await first.stop()
    }
    let second = try await world.outbox()
    try await second.drain()
    let error = await #expect(throws: OutboxError.self) { try await entry.value }
    #expect(error?.code == .deliveredEarlier)
  }

  @Test func `a response that cannot be decoded is a delivery, and the wait for its value throws the error`()
    async throws
  {
    let world = try OutboxWorld { _ in (200, "nonsense") }
    let outbox = try await world.outbox()
    var events = outbox.events().makeAsyncIterator()
    let entry = try await outbox.enqueue(CreateNote(note: Note(id: UUID(), text: "tea")))
    try await outbox.drain()
    #expect(world.sent.count == 1)
    #expect(try await world.states == [5])
    let error = await #expect(throws: NetworkError.self) { try await entry.value }
    #expect(error?.code == .decodingFailed)
    let event = await events.next()
    #expect(event?.kind == .delivered)
    #expect((event?.error as? NetworkError)?.code == .decodingFailed)
  }

  @Test func `fifty offline edits are one request, after the create, with the id that the server gave`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let note = Note(id: UUID(), text: "0")
    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    for text in 1...50 { try await outbox.enqueue(EditNote(id: note.id, text: "\(text)")) }
    try await outbox.drain()
    #expect(world.sent == ["POST /notes", "PUT /notes/7"])
    #expect(try world.mock.sent.last?.json([String: String].self) == ["text": "50"])
  }

  @Test func `an edit waits for a missing create, and the wait does not count as an attempt`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let note = Note(id: UUID(), text: "0")
    try await world.store.write { try $0.save([note], into: "note") }
    let edit = try await outbox.enqueue(EditNote(id: note.id, text: "1"))
    try await outbox.drain()
    #expect(world.sent.isEmpty)
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 0)
    guard case .waiting(let date) = try await outbox.state(of: edit.id) else {
      Issue.record("the edit does not wait")
      return
    }
    #expect(date == world.clock.date.addingTimeInterval(30))
    // After the delivery of another entry the outbox makes its request again.
    try await world.store.write { try $0.execute("UPDATE note SET serverID = 9") }
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "PUT /notes/9"])
  }

  @Test func `an edit of an entry that was sent goes behind it`() async throws {
    let attempts = Shared(0)
    let world = try OutboxWorld { _ in attempts.next() == 1 ? (503, "") : (200, "") }
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    let second = try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    let third = try await outbox.enqueue(Ping(number: 3, identity: "x", replaces: true))
    #expect(second.id != first.id)
    #expect(third.id == second.id)
    world.clock.advance(by: .seconds(2))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/3"])
  }

  @Test func `a kept identity is enqueued once, also after its delivery`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x"))
    let second = try await outbox.enqueue(Ping(number: 2, identity: "x"))
    #expect(second.id == first.id)
    #expect(second.operation.number == 1)
    try await outbox.drain()
    let third = try await outbox.enqueue(Ping(number: 3, identity: "x"))
    #expect(third.id == first.id)
    #expect(third.state == .delivered)
    // A day later it is a new one.
    world.clock.advance(by: .seconds(86_401))
    let fourth = try await outbox.enqueue(Ping(number: 4, identity: "x"))
    #expect(fourth.id != first.id)
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/4"])
  }

  @Test func `an edit after the delivery of an edit is a new one`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    let second = try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    #expect(second.id != first.id)
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 2)
  }

  @Test func `the merged list shows each note once, from the queue or from the table`() async throws {
    struct Shown: Equatable {
      var texts: [String]
      var left: Int
    }
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    var shown = world.store.values { db in
      let rows: [Note] = try db.query("SELECT * FROM note WHERE serverID IS NOT NULL")
      let new = try outbox.waiting(CreateNote.self, in: db)
      return Shown(texts: rows.map(\.text) + new.map(\.operation.note.text), left: try outbox.summary(in: db).waiting)
    }.makeAsyncIterator()
    #expect(try await shown.next() == Shown(texts: [], left: 0))
    let note = Note(id: UUID(), text: "milk")
    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    #expect(try await shown.next() == Shown(texts: ["milk"], left: 1))
    try await outbox.drain()
    #expect(try await shown.next() == Shown(texts: ["milk"], left: 0))
  }

  @Test func `the states of an entry begin with waiting and end with the delivery`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    var states = entry.states.makeAsyncIterator()
    #expect(await states.next() == .waiting(until: world.clock.date))
    try await outbox.drain()
    var last = await states.next()
    while let state = last, state != .delivered { last = await states.next() }
    #expect(last == .delivered)
    #expect(await states.next() == nil)
  }
}
