import RequestBehaviorsTesting
import TestSupport
import Testing

// Between its last check and the transport a request cannot be held through the public API.
@testable import RequestBehaviors

/// The end of a session waits for requests during their hand-over, and for no others.
@Suite(.limited) struct HandOverTests {
  private let handOvers = HandOvers()
  private let ended = Box(false)

  private func waiting() -> Task<Void, Never> {
    Task { [handOvers, ended] in
      await handOvers.wait()
      ended.value = true
    }
  }

  @Test func `a sign-out without a hand-over under way does not wait`() async {
    await handOvers.wait()
    #expect(HandOver(to: []).map { _ in 0 } == nil)
    HandOver(to: [handOvers])?.end()
    await handOvers.wait()
  }

  @Test func `the wait ends with the last hand-over that began before it`() async throws {
    let first = try #require(HandOver(to: [handOvers]))
    let second = try #require(HandOver(to: [handOvers, HandOvers()]))
    let wait = waiting()
    await handOvers.waitForWaiters(1)
    let later = try #require(HandOver(to: [handOvers]))
    second.end()
    second.end()
    #expect(!ended.value)
    first.end()
    await wait.value
    #expect(ended.value)
    later.end()
  }

  @Test func `hand-overs end in any order, and again`() throws {
    let all = try (0..<100).map { _ in try #require(HandOver(to: [handOvers])) }
    var random = SeededGenerator(seed: 7)
    for (index, handOver) in all.shuffled(using: &random).enumerated() {
      handOver.end()
      handOver.end()
      #expect(handOvers.openCount == 99 - index)
    }
  }

  private func send(over transport: some Transport, ending handOver: HandOver) async throws {
    let endsItself = transport is any HandOverEnding
    _ = try await transport.send(NetworkRequest(url: baseURL), ending: handOver, itself: endsItself)
  }

  @Test func `a transport that ends hand-overs itself ends them while it sends`() async throws {
    let handOver = try #require(HandOver(to: [handOvers]))
    let transport = EndingTransport { [handOvers, ended] in
      let before = handOvers.openCount
      HandOver.endCurrent()
      ended.value = before == 1 && handOvers.openCount == 0
    }
    try await self.send(over: transport, ending: handOver)
    #expect(ended.value)
  }

  #if os(Linux)
    // Sixteen tasks at most begin within each other on a thread.
    @Test(arguments: [0, 1, 15, 16, 17, 32])
    func `a hand-over to another transport lasts until the transport has begun`(depth: Int) async throws {
      let openCount = Box(0)
      let transport = ClosureTransport { [handOvers] request in
        openCount.value = handOvers.openCount
        return NetworkResponse(request: request, statusCode: 200)
      }
      @Sendable func send(within depth: Int) async throws {
        if depth > 0 { return try await CancellableTask<Void>().run { try await send(within: depth - 1) } }
        let handOver = try #require(HandOver(to: [handOvers]))
        try await self.send(over: transport, ending: handOver)
      }
      try await send(within: depth)
      #expect(openCount.value == 1)
      #expect(handOvers.openCount == 0)
    }
  #endif

  @Test func `the hand-over of another transport ends while it waits`() async throws {
    let handOver = try #require(HandOver(to: [handOvers]))
    let transport = ClosureTransport { [handOvers, ended] request in
      await handOvers.wait()
      ended.value = true
      return NetworkResponse(request: request, statusCode: 200)
    }
    try await self.send(over: transport, ending: handOver)
    #expect(ended.value)
  }

  @Test func `a cancelled sign-out still waits`() async throws {
    let handOver = try #require(HandOver(to: [handOvers]))
    let wait = waiting()
    wait.cancel()
    await handOvers.waitForWaiters(1)
    #expect(!ended.value)
    handOver.end()
    await wait.value
    #expect(ended.value)
  }
}

private struct EndingTransport: HandOverEnding {
  let work: @Sendable () -> Void

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    work()
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}

extension HandOvers {
  /// Returns when so many wait.
  fileprivate func waitForWaiters(_ count: Int) async {
    while waiterCount < count { await Task.yield() }
  }
}
