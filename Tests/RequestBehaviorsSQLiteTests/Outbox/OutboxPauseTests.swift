import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// How many requests are sent at a time, and when, while the network is bad.
@Suite(.limited) struct OutboxPauseTests {
  @Test(arguments: [1, 3]) func `the configured number of requests is under way, and the end of one starts another`(
    concurrency: Int
  ) async throws {
    let gates = (1...6).map { _ in TestGate() }
    let begun = TestGate()
    let world = try OutboxWorld { request in
      begun.arrive()
      await gates[(Int(request.url.lastPathComponent) ?? 1) - 1].pass()
      return (200, "")
    }
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: concurrency))
    for number in 1...6 { try await outbox.enqueue(Ping(number: number)) }
    outbox.start()
    for number in 1...6 {
      await begun.waitForArrivals(min(6, concurrency + number - 1))
      let claimed = try await world.count("SELECT count(*) FROM outbox_entry WHERE state = 1")
      #expect(claimed <= concurrency + concurrency / 2)
      #expect(begun.arrivalCount <= concurrency + number - 1)
      gates[number - 1].open()
    }
    #expect(try await outbox.drain().isEmpty)
    await outbox.stop()
    #expect(world.sent.count == 6)
  }

  /// A world whose network is as the value says, and its outbox.
  private func world(_ isDown: Shared<Bool>, status: Int = 200) throws -> OutboxWorld {
    try OutboxWorld { request in
      if isDown.value { throw NetworkError(.cannotConnect, "a test", request: request) }
      return (status, "")
    }
  }

  @Test func `pauses last 1, 2, 4 and at last 60 seconds, and one probe follows each`() async throws {
    let lengths = [1, 2, 4, 8, 16, 32, 60, 60]
    let (gates, begun) = (lengths.map { _ in TestGate() }, TestGate())
    let world = try OutboxWorld { request in
      guard begun.arrivalCount < gates.count else { return (200, "") }
      begun.arrive()
      await gates[begun.arrivalCount - 1].pass()
      throw NetworkError(.cannotConnect, "a test", request: request)
    }
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: 1))
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    var events = outbox.events().makeAsyncIterator()
    outbox.start()
    var end: Date?
    for (count, length) in lengths.enumerated() {
      await world.letTimePass { begun.arrivalCount > count }
      #expect(begun.arrivalCount == count + 1)
      if let end { #expect(world.clock.date >= end) }
      gates[count].open()
      var event = await events.next()
      while let other = event, other.kind != .paused { event = await events.next() }
      #expect(event?.date == world.clock.date.addingTimeInterval(TimeInterval(length)))
      end = event?.date
    }
    // The probe is the entry that is due for the longest time.
    #expect(Set(world.sent).count <= 3)
    #expect(try await outbox.drain().isEmpty)
    await outbox.stop()
  }

  @Test(arguments: [503, 422]) func `a refusal of the server ends a pause, because it shows that the network is back`(
    status: Int
  ) async throws {
    let isDown = Shared(true)
    let world = try world(isDown, status: status)
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: 1))
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    var events = outbox.events().makeAsyncIterator()
    outbox.start()
    while let event = await events.next(), event.kind != .paused {}
    isDown.value = false
    await world.letTimePass { world.sent.count >= 2 }
    while let event = await events.next(), event.kind != .resumed {}
    // No further time passes for the others.
    while try await world.count("SELECT count(*) FROM outbox_entry WHERE instr(failure, \("\(status)")) > 0") < 3 {
      await Task.yield()
    }
    await outbox.stop()
    #expect(Set(world.sent).count == 3)
  }

  @Test(arguments: [false, true]) func `a drain and a resume that end a pause tell so`(resumes: Bool) async throws {
    let isDown = Shared(true)
    let world = try world(isDown)
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    var events = outbox.events().makeAsyncIterator()
    try await outbox.drain()
    #expect(await events.next()?.kind == .paused)
    isDown.value = false
    if resumes {
      await outbox.suspend()
      outbox.resume()
    }
    #expect(try await outbox.drain().isEmpty)
    #expect(await events.next()?.kind == .resumed)
    #expect(await events.next()?.kind == .delivered)
  }
}
