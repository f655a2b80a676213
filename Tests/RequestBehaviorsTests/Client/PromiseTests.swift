import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct PromiseTests {
  private func broken(
    _ behavior: any RequestBehavior, _ request: Request<Void> = .get("x")
  ) async -> NetworkError? {
    await #expect(throws: NetworkError.self) { try await NetworkClient(ClosureTransport(), [behavior]).send(request) }
  }

  @Test func `promise 8: next with a request of another call is an error that names the behavior`() async {
    struct Swapper: RequestBehavior {
      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await next(NetworkRequest(url: request.url))
      }
    }
    let error = await broken(Swapper())
    #expect(error?.code == .invalidBehavior)
    #expect(error?.message == "Swapper called next with a request of another call")
  }

  @Test func `promise 8: next after intercept has returned is an error that names the behavior`() async throws {
    struct Leaker: RequestBehavior {
      let leak: Box<Next?>
      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        leak.value = next
        return try await next(request)
      }
    }
    let leak = Box<Next?>(nil)
    let request = Box<NetworkRequest?>(nil)
    let keep = ClosureBehavior("keep", beforeSend: { request.value = $0 })
    try await NetworkClient(ClosureTransport(), [Leaker(leak: leak), keep]).send(.get("x"))
    let next = try #require(leak.value)
    let kept = try #require(request.value)
    let error = await #expect(throws: NetworkError.self) { _ = try await next(kept) }
    #expect(error?.message == "Leaker called next after its intercept had returned")
  }

  @Test func `promise 8: the check holds after many steps of a call`() async throws {
    let leaks = Box<[Next]>([])
    let request = Box<NetworkRequest?>(nil)
    let again = ClosureBehavior("again", order: .retry) { request, next in
      for _ in 0..<18 { _ = try await next(request) }
      return try await next(request)
    }
    let leaker = ClosureBehavior("leaker") { got, next in
      leaks.update { $0.append(next) }
      request.value = got
      return try await next(got)
    }
    let padding = (1...4).map { number -> any RequestBehavior in
      ClosureBehavior("padding \(number)") { request, next in try await next(request) }
    }
    try await NetworkClient(ClosureTransport(), [again] + padding + [leaker]).send(.get("x"))
    let kept = try #require(request.value)
    #expect(leaks.value.count == 19)
    for next in leaks.value {
      await #expect(throws: NetworkError.self) { _ = try await next(kept) }
    }
  }

  @Test func `promise 8: a one-shot body under way twice is an error that names the behavior`() async {
    struct Doubler: RequestBehavior {
      let openGate: @Sendable () -> Void
      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await withThrowingTaskGroup(of: NetworkResponse.self) { group in
          for _ in 0..<2 { group.addTask { try await next(request) } }
          // One of the two waits at the gate, so the first result is the other's.
          let first = await group.nextResult()
          openGate()
          return try first?.get() ?? NetworkResponse(request: request, statusCode: 599)
        }
      }
    }
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let hold = ClosureBehavior("hold", order: .last, beforeSend: { _ in for await _ in gate {} })
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("x".utf8)]))
    let client = NetworkClient(ClosureTransport(), [Doubler { opener.finish() }, hold])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("x", body: .body(body))) }
    #expect(error?.message == "Doubler called next concurrently with a one-shot body")
  }

  @Test func `a one-shot body may be passed on by every behavior of the list`() async throws {
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("x".utf8)]))
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [EmptyBehavior(), EmptyBehavior(order: .last)])
    try await client.send(.post("x", body: .body(body)))
    #expect(transport.sent.count == 1)
  }
}
