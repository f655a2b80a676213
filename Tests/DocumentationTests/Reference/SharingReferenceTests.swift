import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Responses by URL.
private final class ResponseStore: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var responses: [URL: NetworkResponse] = [:]

  subscript(url: URL) -> NetworkResponse? {
    get { lock.withLock { responses[url] } }
    set { lock.withLock { responses[url] = newValue } }
  }
}

private struct StoreBehavior: RequestBehavior {
  let order = BehaviorOrder.caching
  let store: ResponseStore

  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    guard let stored = store[request.url] else {
      return try await next(request)
    }
    next.detached().start(request)  // for the next time
    return stored.bound(to: request)
  }
}

private struct Session {
  let endings: ScopeEndings?
  func takeScope() -> String { "user 7" }

  func signOut() async {
    let ended = takeScope()
    await endings?.end(ended)
  }
}

/// The samples in the reference of what shares responses.
@Suite(.limited) struct SharingReferenceTests {
  @Test func `a stored response is returned while it is refreshed`() async throws {
    let mock = answering("{}")
    let store = ResponseStore()
    let client = NetworkClient(baseURL: baseURL, behaviors: [StoreBehavior(store: store)], transport: mock)
    let first: NetworkResponse = try await client.send(.get("me"))
    store[first.request.url] = first
    let second: NetworkResponse = try await client.send(.get("me"))
    #expect(second.statusCode == 200)
    #expect(second.request.call !== first.request.call)
  }

  // Compiled only.
  func `a sign-out tells that a scope has ended`() async { await Session(endings: nil).signOut() }
}
