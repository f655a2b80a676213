import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Fields with the name of a credential are bound to an origin even if they are not marked.
@Suite(.limited) struct CredentialFieldTests {
  private static let names = [
    "Authorization", "Proxy-Authorization", "Cookie", "X-API-Key", "x-api-key", "apikey", "X-Auth-Token",
    "X-Access-Token", "Private-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Session-ID", "X-CSRF-Token",
    "X-Client-Secret", "Signature",
  ]
  private static let harmless = ["Accept", "X-Request-ID", "User-Agent", "Traceparent", "X-Tenant"]

  private let transport = ClosureTransport()

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  /// A transport whose server redirects every request to another origin, which answers 200.
  private func redirecting(to location: String = "https://other.example/b") -> ClosureTransport {
    ClosureTransport { request in
      guard request.url.host() == "api.example.com" else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 307, headers: ["Location": location])
    }
  }

  private func fixed(_ name: String, order: BehaviorOrder = .request, sensitive: OriginScope? = nil) -> ClosureBehavior
  {
    ClosureBehavior(
      "fixed", order: order, headers: { _ in HeaderFields([.init(name, "canary", sensitive: sensitive)]) })
  }

  @Test(arguments: names)
  func `an unmarked credential of a behavior goes to the base URL's origin only`(name: String) async throws {
    let headers = HeaderFields([.init(name, "canary")])
    let client = NetworkClient(transport, [.headers(headers)])
    try await client.send(.get("a"))
    try await client.send(.get(url: url("https://other.example/a")))
    try await client.send(.get(url: url("http://api.example.com/a")))
    #expect(transport.sent.map { $0.headers[name] } == ["canary", nil, nil])
  }

  @Test(arguments: names)
  func `an unmarked credential that a behavior sets in modify goes to the base URL's origin only`(
    name: String
  ) async throws {
    let client = NetworkClient(transport, [ClosureBehavior("own", modify: { $0.headers[name] = "canary" })])
    try await client.send(.get("a"))
    try await client.send(.get(url: url("https://other.example/a")))
    #expect(transport.sent.map { $0.headers[name] } == ["canary", nil])
  }

  @Test(arguments: [BehaviorOrder.last, .inside(.last)])
  func `the last behavior sees exactly the sent request`(order: BehaviorOrder) async throws {
    let seen = Box<[HeaderFields]>([])
    let log = ClosureBehavior("log", order: order) { request, next in
      seen.update { $0.append(request.headers) }
      return try await next(request)
    }
    let hooks = ClosureBehavior(
      "hooks", order: order, beforeSend: { request in seen.update { $0.append(request.headers) } })
    let late = fixed("X-Late-Token", order: .inside(.inside(.last)), sensitive: .baseURL)
    let client = NetworkClient(
      transport, [.bearer("canary"), log, hooks, fixed("X-Tenant", order: .verification), late])
    try await client.send(.get(url: url("https://other.example/a")))
    #expect(seen.value.count == 2)
    for headers in seen.value {
      #expect(!headers.contains("Authorization"))
      #expect(headers.contains("X-Tenant"))
    }
    // A field that another behavior adds later is still bound.
    #expect(transport.sent[0].headers.map(\.name) == ["X-Tenant"])
    try await client.send(.get("a"))
    #expect(seen.value.last?["Authorization"] == "Bearer canary")
    #expect(transport.sent[1].headers["X-Late-Token"] == "canary")
  }

  @Test(arguments: names)
  func `an unmarked credential of a request goes to the request's origin, and no further`(name: String) async throws {
    let other = try url("https://other.example/a")
    try await NetworkClient(transport).send(.get(url: other).with(header: name, "canary"))
    #expect(transport.sent[0].headers[name] == "canary")
    let redirecting = redirecting()
    try await NetworkClient(redirecting).send(.get("a").with(header: name, "canary"))
    #expect(redirecting.sent.map { $0.headers[name] } == ["canary", nil])
  }

  @Test(arguments: names, [BehaviorOrder.request, .authentication, .last])
  func `an unmarked credential of a behavior does not follow a redirect, wherever the behavior is listed`(
    name: String, order: BehaviorOrder
  ) async throws {
    let transport = redirecting()
    try await NetworkClient(transport, [fixed(name, order: order)]).send(.get("a"))
    #expect(transport.sent.map { $0.headers[name] } == ["canary", nil])
  }

  @Test(arguments: harmless)
  func `a field of another name goes to every origin`(name: String) async throws {
    let transport = redirecting()
    try await NetworkClient(transport, [fixed(name)]).send(.get("a"))
    try await NetworkClient(transport).send(.get("a").with(header: name, "canary"))
    #expect(transport.sent.map { $0.headers[name] } == ["canary", "canary", "canary", "canary"])
  }

  @Test func `an explicit origin scope of a credential is obeyed, for URLs and for redirects`() async throws {
    let origins = [Origin("https://api.example.com"), Origin("https://other.example")]
    let both = OriginScope.only(Set(origins.compactMap(\.self)))
    for scope in [OriginScope.any, both] {
      let transport = redirecting()
      let client = NetworkClient(transport, [fixed("X-API-Key", sensitive: scope)])
      try await client.send(.get(url: url("https://other.example/a")))
      try await client.send(.get("a"))
      try await NetworkClient(transport).send(.get("a").with(header: "X-API-Key", "canary", sensitive: scope))
      #expect(transport.sent.count == 5)
      #expect(transport.sent.allSatisfy { $0.headers["X-API-Key"] == "canary" }, "\(scope)")
    }
  }

  @Test func `a credential that was kept from one origin does not return after a redirect from it`()
    async throws
  {
    let transport = ClosureTransport { request in
      guard request.url.host() == "other.example" else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(
        request: request, statusCode: 302, headers: ["Location": "https://api.example.com/v1/delete"])
    }
    let client = NetworkClient(transport, [fixed("X-API-Key", sensitive: .baseURL)])
    try await client.send(.get(url: url("https://other.example/a")))
    #expect(transport.sent.map { $0.headers["X-API-Key"] } == [nil, nil])
  }

  @Test func `an unmarked credential that was left behind does not come back with a further redirect`() async throws {
    let transport = ClosureTransport { request in
      let next = ["/v1/a": "https://other.example/b", "/b": "https://api.example.com/c"][request.url.path()]
      let headers = next.map { HeaderFields([.init("Location", $0)]) } ?? [:]
      return NetworkResponse(request: request, statusCode: next == nil ? 200 : 302, headers: headers)
    }
    try await NetworkClient(transport, [fixed("Cookie")]).send(.get("a"))
    #expect(transport.sent.map { $0.headers["Cookie"] } == ["canary", nil, nil])
  }

  @Test func `a credential that is withheld from several sends of a call is recorded once`() async throws {
    let client = NetworkClient(ClosureTransport(401), [SecondAttempt(), fixed("Cookie")])
    let request = Request<Void>.get(url: try url("https://other.example/a"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.attempts.count == 2)
    #expect(error?.request?.call.events.count == 1)
  }

  @Test func `an unmarked credential of an environment goes to its origin only`() async throws {
    let staging = ServerEnvironment(baseURL: try url("https://staging.example.com"), headers: ["X-API-Key": "canary"])
    let client = NetworkClient(transport)
    try await client.send(.get("a").with(\.environment, staging))
    #expect(transport.sent[0].headers["X-API-Key"] == "canary")
    let leaving = ClosureTransport { request in
      guard request.url.host() == "staging.example.com" else {
        return NetworkResponse(request: request, statusCode: 200)
      }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://api.example.com/b"])
    }
    try await NetworkClient(leaving).send(.get("a").with(\.environment, staging))
    #expect(leaving.sent.map { $0.headers["X-API-Key"] } == ["canary", nil])
  }

  @Test func `a credential that was withheld is recorded, and a 401 or 403 names it and the origin`() async throws {
    for status in [401, 403] {
      let client = NetworkClient(ClosureTransport(status), [fixed("Cookie")])
      let request = Request<Void>.get(url: try url("https://other.example/a"))
      let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
      #expect(error?.message.contains("Cookie kept from https://other.example") == true, "\(error as Any)")
      #expect(error?.description.contains("canary") == false)
      let events = error?.request?.call.events.map(\.message) ?? []
      #expect(events.contains { $0.contains("Cookie") && $0.contains("https://other.example") }, "\(events)")
    }
  }

  @Test func `a 401 of an origin from which no credential was withheld does not mention credentials`() async throws {
    let transport = ClosureTransport { request in
      guard request.url.host() == "other.example" else { return NetworkResponse(request: request, statusCode: 401) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://api.example.com/b"])
    }
    let client = NetworkClient(transport, [fixed("Cookie", order: .authentication)])
    let request = Request<Void>.get(url: try url("https://other.example/a"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(transport.sent.count == 2)
    #expect(error?.message == "the server answered 401")
  }

  @Test func `an unmarked credential is hidden wherever fields are shown, and marked for the transport`() async throws {
    try await NetworkClient(transport, [fixed("X-Auth-Token")]).send(.get("a", headers: ["Cookie": "canary"]))
    let headers = try #require(transport.sent.first?.headers)
    #expect(!headers.description.contains("canary"))
    #expect(headers.field(named: "X-Auth-Token")?.sensitivity == .baseURL)
    let origin = try #require(Origin("https://api.example.com"))
    #expect(headers.field(named: "Cookie")?.sensitivity == .only([origin]))
  }
}
