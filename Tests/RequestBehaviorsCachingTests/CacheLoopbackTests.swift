import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The cache over real connections, with a server that evaluates conditions itself.
@Suite(.limited) struct CacheLoopbackTests {
  /// Serves a text that changes with its version, its entity tag being the version.
  private func server(_ version: Box<Int>, cacheControl: String) throws -> LoopbackServer {
    try LoopbackServer { request in
      let etag = "\"v\(version.value)\""
      if request.headers["If-None-Match"] == etag {
        return LoopbackResponse.status(304).header("ETag", etag).header("Cache-Control", cacheControl)
      }
      return LoopbackResponse.text("version \(version.value)").header("ETag", etag).header(
        "Cache-Control", cacheControl)
    }
  }

  @Test func `a 304 of a real server keeps the stored body, and a new version replaces it`() async throws {
    let version = Box(1)
    let server = try server(version, cacheControl: "no-cache")
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.caching(MemoryCacheStore())])
    var sources: [ResponseSource] = []
    for text in ["version 1", "version 1", "version 2", "version 2"] {
      if text == "version 2" { version.value = 2 }
      let response: NetworkResponse = try await client.send(.get("a"))
      #expect(try response.text == text)
      #expect(response.statusCode == 200)
      sources.append(response.source)
    }
    #expect(sources == [.network, .revalidated, .network, .revalidated])
    #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"v1\"", "\"v1\"", "\"v2\""])
  }

  @Test func `a response that depends on a cookie is not used for another user, nor for a user without the cookie`()
    async throws
  {
    let server = try LoopbackServer { request in
      if let user = request.headers["X-User"] {
        return LoopbackResponse.text("hello").header("Set-Cookie", "session=\(user); Path=/")
      }
      return LoopbackResponse.text(request.headers["Cookie"] ?? "nobody").header("Cache-Control", "max-age=3600")
    }
    let transport = URLSessionTransport(configuration: .init(handlesCookies: true))
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.caching(MemoryCacheStore()), .coalescing()], transport: transport)
    var texts = [try await client.send(Request<String>.get("me"))]
    for user in ["alice", "bob"] {
      try await client.send(.post("login", headers: ["X-User": user]))
      texts.append(try await client.send(.get("me")))
    }
    #expect(texts == ["nobody", "session=alice", "session=bob"])
  }

  @Test func `a fresh response does not need a server`() async throws {
    let server = try server(Box(1), cacheControl: "max-age=3600")
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.caching(MemoryCacheStore())])
    let first: String = try await client.send(.get("a"))
    server.stop()
    let second: NetworkResponse = try await client.send(.get("a"))
    #expect(try second.text == first)
    #expect(second.source == .cache)
  }

  @Test func `a stale response needs the server, and replaces its failure if that is allowed`() async throws {
    let server = try server(Box(1), cacheControl: "max-age=0")
    let client = NetworkClient(
      baseURL: server.baseURL,
      behaviors: [.caching(MemoryCacheStore(), policy: CachePolicy(staleIfError: .seconds(3_600)))])
    let first: String = try await client.send(.get("a"))
    server.stop()
    let second: NetworkResponse = try await client.send(.get("a"))
    #expect(try second.text == first)
    #expect(second.source == .stale)
  }

  @Test func `a body that is cut short is not stored`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      .text("0123456789").header("Cache-Control", "max-age=60").fault(.close, at: .body(after: 5)),
      .text("0123456789").header("Cache-Control", "max-age=60"))
    let store = MemoryCacheStore()
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.caching(store)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) as String }
    #expect(store.count == 0)
    let text: String = try await client.send(.get("a"))
    #expect(text == "0123456789")
    #expect(store.count == 1)
  }

  @Test func `a failed verification stores nothing, and a stored response is used without a new echo`() async throws {
    let isPortal = Box(true)
    let server = try LoopbackServer { request in
      let response = LoopbackResponse.text(isPortal.value ? "portal" : "body").header("Cache-Control", "max-age=60")
      guard !isPortal.value, let nonce = request.headers["X-API-Nonce"] else { return response }
      return response.header("X-API-Nonce", nonce)
    }
    let store = MemoryCacheStore()
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.caching(store), .nonceVerification()])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) as String }
    #expect(error?.code == .intercepted)
    #expect(store.count == 0)
    isPortal.value = false
    for _ in 0..<2 {
      let text: String = try await client.send(.get("a"))
      #expect(text == "body")
    }
    #expect(server.requestCount == 2)
  }
}
