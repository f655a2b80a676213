import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct SharingKeyTests {
  private enum Flavor: RequestOption { static let defaultValue = "" }
  private enum Color: RequestOption {
    static let defaultValue = ""
    static let affectsResponse = false
  }
  private struct Opaque: Sendable {}
  private enum Secretive: RequestOption { static let defaultValue = Opaque() }

  private let keys = Box<[SharingKey?]>([])
  private let client: NetworkClient

  init() {
    let keys = keys
    let keeper = ClosureBehavior("keeper", order: .coalescing) { request, next in
      keys.update { $0.append(next.sharingKey(for: request)) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    client = NetworkClient(ClosureTransport(), [keeper, .nonceVerification()])
  }

  private func key<Value>(_ request: Request<Value>, _ other: NetworkClient? = nil) async throws -> SharingKey? {
    try await (other ?? client).send(request.returning(Void.self))
    return keys.value.last ?? nil
  }

  private let plain = Request<Void>.get("x", query: ["a": 1], headers: ["Accept": "text/plain"])

  @Test func `identical requests have the same key`() async throws {
    let first = try await key(plain)
    #expect(try await key(plain) == first)
    #expect(first != nil)
  }

  @Test func `requests that differ in method, URL, fields, body or client have different keys`() async throws {
    let first = try await key(plain)
    var others = [
      Request<Void>.head("x", query: ["a": 1], headers: ["Accept": "text/plain"]),
      .get("y", query: ["a": 1], headers: ["Accept": "text/plain"]), .get("x", headers: ["Accept": "text/plain"]),
      .get("x", query: ["a": 1], headers: ["Accept": "text/html"]), plain.with(header: "Range", "bytes=0-1"),
    ]
    others.append(Request<Void>(.query, "x", body: .text("1")))
    others.append(Request<Void>(.query, "x", body: .text("2")))
    let all = try await others.asyncMap { try await key($0) }
    #expect(Set(all + [first]).count == others.count + 1)
    let variant = client.with { $0.options.timeout = .seconds(1) }
    #expect(try await key(plain, variant) != first)
  }

  @Test func `fields that only name a request do not change the key`() async throws {
    let first = try await key(plain)
    for name in ["traceparent", "tracestate", "X-Request-ID"] {
      #expect(try await key(plain.with(header: name, "7")) == first)
    }
  }

  @Test func `requests with different credentials have different keys, and keys do not show them`() async throws {
    let alice = try await key(plain.with(header: "Authorization", "Bearer alice-secret"))
    let bob = try await key(plain.with(header: "Authorization", "Bearer bob-secret"))
    let apiKey = try await key(plain.with(header: "X-Key", "k3y-secret", sensitive: .baseURL))
    #expect(Set([alice, bob, apiKey, try await key(plain)]).count == 4)
    #expect(try await key(plain.with(header: "Authorization", "Bearer alice-secret")) == alice)
    for key in [alice, bob, apiKey] { #expect(!String(reflecting: key).contains("secret")) }
  }

  @Test func `options change the key unless they do not affect the response`() async throws {
    func with<Option: RequestOption>(_ option: Option.Type, _ value: Option.Value) async throws -> SharingKey? {
      var request = plain
      request.options[option] = value
      return try await key(request)
    }
    let first = try await key(plain)
    #expect(try await with(Flavor.self, "a") == with(Flavor.self, "a"))
    #expect(try await with(Flavor.self, "a") != with(Flavor.self, "b"))
    #expect(try await with(Flavor.self, "a") != first)
    #expect(try await with(Color.self, "a") == first)
    #expect(try await with(Secretive.self, Opaque()) != with(Secretive.self, Opaque()))
    #expect(try await key(plain.with(\.deadline, .seconds(3)).with(\.coalescing, .never)) == first)
    #expect(try await key(Request<Int?>.get("x", query: ["a": 1], headers: ["Accept": "text/plain"])) == first)
  }

  @Test func `options that say how a request runs tell keys apart, and equal ones do not`() async throws {
    var others: [SharingKey?] = [try await key(plain)]
    let changed: [Request<Void>] = [
      plain.with(\.timeout, .seconds(3)), plain.with(\.idleTimeout, nil), plain.with(\.bypassesGate, true),
      plain.with(\.bypassesLimits, true), plain.with(\.bypassesCircuitBreaker, true),
      plain.with(\.bypassesBatching, true), plain.with(\.offlineRule, .wait), plain.with(\.priority, .high),
      plain.with(\.retryPolicy, RetryPolicy.none), plain.with(\.hedging, HedgingPolicy()),
    ]
    for request in changed {
      let first = try await key(request)
      #expect(try await key(request) == first)
      others.append(first)
    }
    #expect(try await key(plain.with(\.retryPolicy, RetryPolicy.none)) == others[9])
    #expect(Set(others).count == changed.count + 1)
  }

  @Test func `a request with its own behaviors further in, or without one of the client's, has no key`() async throws {
    let first = try await key(plain)
    #expect(try await key(plain.with(EmptyBehavior())) == nil)
    #expect(try await key(plain.without(NonceVerificationBehavior.self)) == nil)
    #expect(try await key(plain.with(.nonceVerification(header: "X-Other"))) == nil)
    #expect(try await key(plain.with(EmptyBehavior(order: .observation))) == first)
  }

  @Test func `a request whose body is not in memory has no key`() async throws {
    let stream = RequestContent.body(.stream { ByteStream(chunks: []) })
    #expect(try await key(Request<Void>(.query, "x", body: stream)) == nil)
  }

  @Test func `the key of a named request contains only client, scopes and credentials`() async throws {
    let named = Box<[SharingKey?]>([])
    let keeper = ClosureBehavior("keeper", order: .coalescing) { request, next in
      named.update { $0.append(next.sharingKey(for: request, named: "feed")) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(ClosureTransport(), [keeper])
    try await client.send(.get("x"))
    try await client.send(.get("y").with(EmptyBehavior()))
    try await client.send(.get("y", headers: ["Authorization": "Bearer alice"]))
    #expect(named.value[0] == named.value[1])
    #expect(named.value[0] != nil)
    #expect(named.value[2] != named.value[0])
  }
}

extension Sequence {
  /// The results of an asynchronous closure, one after the other.
  func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
