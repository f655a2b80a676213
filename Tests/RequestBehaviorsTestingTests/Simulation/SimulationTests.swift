import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited, .enabled(if: Simulation.isAvailable))
struct SimulationTests {
  private let baseURL = URL(string: "https://shop.example")!

  /// Three calls with retries over a network with troubles.
  private func summary(of seed: UInt64) async throws -> Simulation.Summary {
    try await Simulation(seed: seed) { [baseURL] world in
      world.network.serve("shop.example") { _ in .json("{}") }
      world.network.troubles = .all
      let client = world.client(baseURL: baseURL, behaviors: [.retry(), .hedging(), .concurrencyLimit(1)])
      for number in 0..<3 {
        world.call("call \(number)", mayBeCancelled: true) { try await client.send(.get("\(number)")) }
      }
    }.run()
  }

  private func failure(
    seed: UInt64 = 1, _ build: @escaping @Sendable (SimulatedWorld) throws -> Void
  ) async throws -> SimulationFailure {
    try await #require(throws: SimulationFailure.self) {
      try await Simulation(seed: seed, stepLimit: 20_000, build).run()
    }
  }

  // MARK: - One seed, one run

  @Test(arguments: Simulation.seeds(20))
  func `a seed gives the same run twice`(seed: UInt64) async throws {
    let first = try await summary(of: seed)
    #expect(try await summary(of: seed) == first)
  }

  @Test func `a seed decides the random numbers of a trace and of the marks of a cache`() async throws {
    func drawn(_ seed: UInt64) async throws -> String {
      let journal = Journal()
      try await Simulation(seed: seed) { _ in
        let root = TraceContext.root()
        journal.text = "\(root.traceparent) \(root.child().traceparent) \(CacheRemovals().mark.number)"
      }.run()
      return journal.text
    }
    let first = try await drawn(1)
    #expect(try await drawn(1) == first)
    #expect(try await drawn(2) != first)
  }

  @Test func `different seeds give different runs`() async throws {
    var digests: Set<UInt64> = []
    for seed in UInt64(1)...20 { digests.insert(try await summary(of: seed).digest) }
    #expect(digests.count == 20)
  }

  @Test func `simulations run side by side`() async throws {
    let alone = try await summary(of: 7)
    let together = try await withThrowingTaskGroup(of: Simulation.Summary.self) { group in
      for _ in 0..<4 { group.addTask { try await summary(of: 7) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(together == Array(repeating: alone, count: 4))
  }

  @Test func `every order of two tasks comes with some seed`() async throws {
    var orders: Set<String> = []
    for seed in UInt64(1)...40 {
      let journal = Journal()
      try await Simulation(seed: seed) { world in
        for name in ["a", "b"] {
          world.action(name, at: .after(.zero)) {
            journal.text += name
            await Task.yield()
            journal.text += name
          }
        }
        world.check("both ran") { journal.text.count == 4 }
      }.run()
      orders.insert(journal.text)
    }
    #expect(orders.isSuperset(of: ["aabb", "abab", "abba", "baab", "baba", "bbaa"]))
  }

  @Test func `the idle timeout counts from the request, whatever parts the latency has`() async throws {
    try await Simulation(seed: 3) { [baseURL] world in
      world.network.latency = .seconds(40)
      world.network.serve("shop.example") { _ in .status(200) }
      let client = world.client(baseURL: baseURL) { $0.options.idleTimeout = .seconds(41) }
      let calls = (0..<40).map { number in world.call("call \(number)") { try await client.send(.get("\(number)")) } }
      world.check("both ways take longer than one of them may") { calls.contains { !$0.hasSucceeded } }
    }.run()
  }

  @Test(arguments: [Int64.min, .max])
  func `a latency and a span of any number of seconds do not end the process`(seconds: Int64) async throws {
    try await Simulation(seed: 3) { [baseURL] world in
      world.network.latency = .seconds(seconds)
      world.span = .seconds(seconds)
      world.network.serve("shop.example") { _ in .status(200) }
      let client = world.client(baseURL: baseURL) { $0.options.idleTimeout = .seconds(41) }
      let call = world.call("call") { try await client.send(.get("a")) }
      world.check("only a long latency makes it late") { call.hasSucceeded == (seconds < 0) }
    }.run()
  }

  @Test func `time passes only when no task is ready`() async throws {
    let summary = try await Simulation(seed: 3) { world in
      world.action("waits a day", at: .after(.zero)) { try await world.clock.sleep(for: .seconds(86_400)) }
    }.run()
    #expect(summary.time >= .seconds(86_400))
  }

  @TaskLocal private static var tester = "the system"

  @Test func `the closures of the world see the caller's task-local values`() async throws {
    let journal = Journal()
    try await Self.$tester.withValue("Ann") {
      try await Simulation(seed: 1) { world in
        journal.text += Self.tester
        world.call("asks") { journal.text += " \(Self.tester)" }
        world.check("all asked") {
          journal.text += " \(Self.tester)"
          return true
        }
      }.run()
    }
    #expect(journal.text == "Ann Ann Ann")
  }

  // MARK: - What is wrong is named

  @Test func `the failure for a call that never ends names the call`() async throws {
    let failure = try await failure { world in
      world.call("waits for ever") { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
    #expect(failure.kind == "nothing is left to wait for")
    #expect(failure.detail.contains("waits for ever"))
  }

  @Test func `the failure for a call in an endless loop names the call`() async throws {
    let failure = try await failure { world in
      world.call("goes round") { while true { await Task.yield() } }
    }
    #expect(failure.kind == "it does not end")
    #expect(failure.detail.contains("goes round"))
  }

  @Test func `background work that never ends fails a simulation, although all calls have ended`() async throws {
    let failure = try await failure { world in
      world.call("starts it") { Task { while true { await Task.yield() } } }
    }
    #expect(failure.kind == "it does not end")
    #expect(failure.detail.contains("all calls have ended"))
  }

  @Test func `a simulation names a hung call although another one sleeps for ever`() async throws {
    let failure = try await failure { world in
      let clock = world.clock
      world.call("sleeps") {
        try await clock.sleep(for: .seconds(1))
        try await clock.sleep(for: .seconds(Int64.max))
        _ = clock.date()
      }
      world.call("hangs") { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
    #expect(failure.kind == "nothing is left to wait for")
    #expect(failure.detail.contains("hangs"))
  }

  @Test func `the failure for a call that sleeps in real time names the call`() async throws {
    let failure = try await failure { world in
      world.call("sleeps") {
        // In real time, for that is what is to be found. A sleep that is over before the task has gone to sleep resumes
        // nothing, so it is longer than a thread may be held up.
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    #expect(failure.kind == "another thread resumed a task")
    #expect(failure.detail.contains("\"sleeps\""))
  }

  @Test(arguments: [false, true])
  func `a call that another thread resumes does not run beside the world`(hasDeadline: Bool) async throws {
    let isInJob = AtomicFlag()
    let ranBeside = AtomicFlag()
    let failure = try await failure { [baseURL] world in
      world.network.serve("shop.example") { _ in .json("{}") }
      let clock = world.clock
      let stray = Stray { if isInJob.value { ranBeside.set(true) } }
      let client = world.client(
        baseURL: baseURL, behaviors: (hasDeadline ? [.deadline(.seconds(3_000))] : []) + [stray])
      world.call("strays") { try await client.send(.get("x")) }
      world.call("is slow") {
        for _ in 0..<40 {
          isInJob.set(true)
          let end = ContinuousClock.now + .milliseconds(5)
          while ContinuousClock.now < end {}
          isInJob.set(false)
          try await clock.sleep(for: .seconds(1))
        }
      }
    }
    #expect(failure.kind == "another thread resumed a task")
    #expect(!ranBeside.value)
  }

  @Test func `a request does not reach a transport after the end of its session`() async throws {
    var late: [UInt64] = []
    for seed in Simulation.seeds(1_000) {
      let session = EndingSession()
      let transport = PoolTransport()
      try await Simulation(seed: seed) { [baseURL] world in
        var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [session])
        configuration.clock = world.clock
        let client = NetworkClient(configuration: configuration, transport: transport)
        world.call("load") { try await client.send(.get("x")) }
        world.action("end") {
          await session.end()
          transport.isLate.set(true)
        }
      }.run()
      if transport.wasUsedLate.value { late.append(seed) }
    }
    #expect(late.isEmpty)
  }

  @Test func `the failure for a hop to the main actor names the actor`() async throws {
    let failure = try await failure { world in
      world.call("shows a view") { await MainActor.run {} }
    }
    #expect(failure.kind == "another thread resumed a task")
    #expect(failure.detail.contains("MainActor"))
  }

  @Test func `an actor of the world runs on the simulation's thread`() async throws {
    actor Counter {
      var count = 0
      func add(_ clock: RequestClock) async throws {
        try await clock.sleep(for: .seconds(1))
        count += 1
      }
    }
    let counter = Counter()
    try await Simulation(seed: 1) { world in
      for number in 0..<3 { world.call("adds \(number)") { try await counter.add(world.clock) } }
      world.lastly("it counts each") { if await counter.count != 3 { throw CocoaError(.coderInvalidValue) } }
    }.run()
  }

  @Test func `a task that continues after its run has failed can end`() async throws {
    let stray = Resumption()
    let ending = TestGate()
    let failure = try await failure { [baseURL] world in
      world.network.serve("shop.example") { _ in .status(200) }
      let client = world.client(baseURL: baseURL)
      let end = AtDeinit { ending.arrive() }
      world.call("strays", at: .after(.zero)) {
        defer { _ = end }
        await stray.wait()
        try await client.send(.get("x"))
      }
      world.action("works", at: .after(.zero)) { for _ in 0..<200 { await Task.yield() } }
      world.always("nothing waits") { !stray.isWaitedFor }
    }
    #expect(failure.kind == "nothing waits")
    let ended = ending.arrivalCount
    stray.resume()
    await ending.waitForArrivals(ended + 1)
  }

  @Test func `a failed check reports its seed`() async throws {
    let failure = try await failure(seed: 4_711) { world in world.check("two is three") { 2 == 3 } }
    #expect(failure.kind == "two is three")
    #expect(failure.description.contains("SIMULATION_SEED=4711"))
  }

  @Test func `a check after every job finds a temporary fault`() async throws {
    let failure = try await failure { world in
      let journal = Journal()
      world.action("is wrong for a while", at: .after(.zero)) {
        journal.text = "wrong"
        for _ in 0..<200 { await Task.yield() }
        journal.text = ""
      }
      world.always("nothing is wrong") { journal.text.isEmpty }
    }
    #expect(failure.kind == "nothing is wrong")
  }

  @Test func `a body that is neither read nor cancelled is reported`() async throws {
    let failure = try await failure { [baseURL] world in
      world.network.serve("shop.example") { _ in .stream(["a", "b"], every: .seconds(1)) }
      let client = world.client(baseURL: baseURL)
      let kept = Journal()
      world.call("keeps a stream") { kept.response = try await client.stream(.get("events")) }
      world.check("it is kept") { kept.response != nil }
    }
    #expect(failure.kind == "a body is left open")
  }

  @Test func `a call that is not released is reported`() async throws {
    let failure = try await failure { [baseURL] world in
      world.network.serve("shop.example") { _ in .status(200) }
      let client = world.client(baseURL: baseURL)
      let kept = Journal()
      world.call("keeps a response") {
        kept.response = try await client.response(for: .get("x").returning(Data.self)).http
      }
      world.check("it is kept") { kept.response != nil }
    }
    #expect(failure.kind == "a call is not released")
  }

  @Test func `a failing seed is made smaller`() async throws {
    let failure = try await failure { [baseURL] world in
      world.network.serve("shop.example") { request in .status(request.url.path() == "/3" ? 404 : 200) }
      let retries = world.includes("retry", chance: 1)
      let client = world.client(baseURL: baseURL, behaviors: retries ? [.retry()] : [])
      let calls = (0..<6).map { number in world.call("call \(number)") { try await client.send(.get("\(number)")) } }
      world.check("all succeed") { calls.allSatisfy { $0.result == nil || $0.hasSucceeded } }
    }
    #expect(failure.parts == ["call 3"])
  }

  @Test func `a behavior that forgets a cancellation is found`() async throws {
    // Waits in a task of its own, which the cancellation does not reach.
    struct Forgetful: RequestBehavior {
      func modify(_ request: inout NetworkRequest) async throws {
        let clock = request.call.clock
        _ = await Task { try? await clock.sleep(for: .seconds(30)) }.value
      }
    }
    var found: SimulationFailure?
    for seed in UInt64(1)...60 where found == nil {
      do {
        try await Simulation(seed: seed) { [baseURL] world in
          world.network.serve("shop.example") { _ in .status(200) }
          let client = world.client(baseURL: baseURL, behaviors: [Forgetful()])
          for number in 0..<3 {
            world.call("call \(number)", mayBeCancelled: true) { try await client.send(.get("\(number)")) }
          }
        }.run()
      } catch let failure as SimulationFailure {
        found = failure
      }
    }
    #expect(found?.kind == "a cancelled call goes on")
  }
}

/// The text that a world's tasks write, all on the simulation's thread.
private final class Journal: @unchecked Sendable {
  var text = ""
  var response: NetworkResponse?
}

/// Continues when a thread outside the simulation resumes it.
private struct Stray: RequestBehavior {
  let order = BehaviorOrder.inside(.deadline)
  let note: @Sendable () -> Void

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { continuation.resume() }
    }
    note()
    try await request.call.clock.sleep(for: .seconds(1))
    return try await next(request)
  }
}

/// A session that refuses requests after its end.
private struct EndingSession: RequestBehavior {
  struct Ended: Error {}

  let order = BehaviorOrder.middle
  let handOvers = HandOvers()
  let isOver = AtomicFlag()

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    request.call.addSendCheck(of: handOvers, handOvers: handOvers) { [isOver] _ in if isOver.value { throw Ended() } }
    return try await next(request)
  }

  func end() async {
    isOver.set(true)
    await handOvers.wait()
  }
}

/// A transport whose code is a job of its own, as in a module whose functions leave their caller's actor.
private struct PoolTransport: Transport {
  let isLate = AtomicFlag()
  let wasUsedLate = AtomicFlag()

  @concurrent func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    if isLate.value { wasUsedLate.set(true) }
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}

private final class AtomicFlag: @unchecked Sendable {
  // Guarded by `lock`.
  private var stored = false
  private let lock = NSLock()

  var value: Bool { lock.withLock { stored } }

  func set(_ value: Bool) { lock.withLock { stored = value } }
}

/// Holds the first task that comes until after its run.
private final class Resumption: @unchecked Sendable {
  // Guarded by `lock`.
  private var continuation: CheckedContinuation<Void, Never>?
  private let lock = NSLock()

  var isWaitedFor: Bool { lock.withLock { continuation != nil } }

  func wait() async {
    if isWaitedFor { return }
    await withCheckedContinuation { next in lock.withLock { continuation = next } }
  }

  func resume() { lock.withLock { continuation }?.resume() }
}

/// Calls a closure when it is released.
private final class AtDeinit: Sendable {
  private let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }

  deinit { work() }
}
