import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Hooks that a type does not implement are called once; those that it implements, for every request.
@Suite(.limited) struct LearnedHooksTests {
  private func send(_ behavior: any RequestBehavior, times: Int = 3) async -> [HeaderFields] {
    let mock = MockTransport { request in NetworkResponse(request: request, statusCode: 204) }
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [behavior], transport: mock)
    var sent: [HeaderFields] = []
    for _ in 0..<times {
      if let response: NetworkResponse = try? await client.send(.get("a")) { sent.append(response.request.headers) }
    }
    return sent
  }

  @Test func `every hook that a type implements runs for every request`() async {
    let behavior = CountsHooks()
    _ = await send(behavior)
    for hook in ["scope", "headers", "modify", "beforeSend", "afterSuccess", "intercept"] {
      #expect(behavior.counts.value[hook] == 3, "\(hook)")
    }
  }

  @Test func `a default is called for the first request of a type only`() async {
    struct SetsField: RequestBehavior {
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Set": "1"] }
    }
    let first = HookProbe()
    let fields = await HookProbe.$current.withValue(first) { await send(SetsField(), times: 1) }
    #expect(fields.map { $0["X-Set"] } == ["1"])
    let later = HookProbe()
    let laterFields = await HookProbe.$current.withValue(later) { await send(SetsField()) }
    #expect(laterFields.map { $0["X-Set"] } == ["1", "1", "1"])
    for hook in [HookProbe.Hook.scope, .modify, .beforeSend, .afterSuccess, .intercept] {
      #expect(!later.hasDefault(hook, of: SetsField.self), "\(hook)")
    }
  }

  @Test func `a default for failures is called for the first failure of a type only`() async {
    struct SetsField: RequestBehavior {
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Set": "1"] }
    }
    let mock = MockTransport { request in NetworkResponse(request: request, statusCode: 404) }
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [SetsField()], transport: mock)
    for _ in 0..<2 {
      let probe = HookProbe()
      await HookProbe.$current.withValue(probe) { try? await client.send(Request<Void>.get("a")) }
      // The first failure has a probe of its own.
      #expect(!probe.hasDefault(.afterFailure, of: SetsField.self))
    }
  }

  @Test func `a hook for failures that a type implements runs for every failure`() async {
    struct CountsFailures: RequestBehavior {
      let count = Box(0)
      func afterFailure(_ error: any Error, for request: NetworkRequest) async { count.value += 1 }
    }
    let behavior = CountsFailures()
    let mock = MockTransport { request in NetworkResponse(request: request, statusCode: 404) }
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [behavior], transport: mock)
    for _ in 0..<3 { try? await client.send(Request<Void>.get("a")) }
    #expect(behavior.count.value == 3)
  }

  @Test func `a default that a type's own hook calls does not disable that hook`() async {
    // The asynchronous call within `modify` finds the default, although the type implements the hook.
    struct CallsDefault: RequestBehavior {
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Set": "1"] }
      func modify(_ request: inout NetworkRequest) async throws { _ = try await headers(for: request) }
      func beforeSend(_ request: NetworkRequest) async { _ = try? await headers(for: request) }
    }
    #expect(await send(CallsDefault()).map { $0["X-Set"] } == ["1", "1", "1"])
  }

  @Test func `a hook that throws at first runs for later requests`() async {
    struct ThrowsOnce: RequestBehavior {
      let isFirst = Box(true)
      func modify(_ request: inout NetworkRequest) throws {
        defer { isFirst.value = false }
        if isFirst.value { throw CocoaError(.featureUnsupported) }
        request.headers["X-Modified"] = "1"
      }
    }
    #expect(await send(ThrowsOnce()).map { $0["X-Modified"] } == ["1", "1"])
  }

  @Test func `the hooks learned for one type of a generic behavior do not apply to another`() async {
    struct Wraps<Inner: RequestBehavior>: RequestBehavior {
      let inner: Inner
      func headers(for request: NetworkRequest) async throws -> HeaderFields {
        try await inner.headers(for: request)
      }
    }
    struct SetsNothing: RequestBehavior {}
    struct SetsField: RequestBehavior {
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Inner": "1"] }
    }
    #expect(await send(Wraps(inner: SetsNothing())).map { $0["X-Inner"] } == [nil, nil, nil])
    #expect(await send(Wraps(inner: SetsField())).map { $0["X-Inner"] } == ["1", "1", "1"])
  }

  @Test func `requests that are the first of their type at the same time run every hook`() async throws {
    struct SetsField: RequestBehavior {
      func headers(for request: NetworkRequest) -> HeaderFields { ["X-Set": "1"] }
    }
    let mock = MockTransport { request in NetworkResponse(request: request, statusCode: 204) }
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [SetsField()], transport: mock)
    try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<50 {
        group.addTask { try await (client.send(.get("a")) as NetworkResponse).request.headers["X-Set"] }
      }
      for try await value in group { #expect(value == "1") }
    }
  }
}

/// Counts the calls of each hook.
private struct CountsHooks: RequestBehavior {
  let counts = Box<[String: Int]>([:])

  private func count(_ hook: String) { counts.value[hook, default: 0] += 1 }

  func scope(for request: NetworkRequest) async -> String? {
    count("scope")
    return nil
  }

  func headers(for request: NetworkRequest) async throws -> HeaderFields {
    count("headers")
    return [:]
  }

  func modify(_ request: inout NetworkRequest) async throws { count("modify") }
  func beforeSend(_ request: NetworkRequest) async { count("beforeSend") }
  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws { count("afterSuccess") }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    count("intercept")
    return try await next(request)
  }
}
