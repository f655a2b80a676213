import Foundation
import RequestBehaviors
import TestSupport
import Testing

private enum Priority: RequestOption { static let defaultValue = 0 }

extension RequestOptions {
  fileprivate var priority: Int {
    get { self[Priority.self] }
    set { self[Priority.self] = newValue }
  }
}

@Suite(.limited) struct RequestOptionsTests {
  private struct PriorityBehavior: RequestBehavior {
    let initial: Int?

    func headers(for request: NetworkRequest) async throws -> HeaderFields {
      ["X-Priority": "\(request.options.explicit(Priority.self) ?? initial ?? request.options.priority)"]
    }
  }

  @Test func `the request's value replaces the configuration's, then the behavior's, then the default`()
    async throws
  {
    let transport = ClosureTransport()
    let plain = NetworkClient(transport, [PriorityBehavior(initial: nil)])
    let initial = NetworkClient(transport, [PriorityBehavior(initial: 1)])
    let configured = initial.with { $0.options.priority = 2 }
    try await plain.send(.get("x"))
    try await initial.send(.get("x"))
    try await configured.send(.get("x"))
    try await configured.send(.get("x").with(\.priority, 3))
    #expect(transport.sent.map { $0.headers["X-Priority"] } == ["0", "1", "2", "3"])
  }

  @Test func `a value that was set to the default counts as set`() {
    var options = RequestOptions()
    #expect(options.explicit(Priority.self) == nil)
    options.priority = 0
    #expect(options.explicit(Priority.self) == 0)
    options.reset(Priority.self)
    #expect(options.explicit(Priority.self) == nil)
  }

  @Test func `timeouts have their documented defaults and can be set by a behavior`() async throws {
    let transport = ClosureTransport()
    let hasty = ClosureBehavior("hasty", modify: { $0.timeout = .milliseconds(250) })
    try await NetworkClient(transport).send(.get("x"))
    try await NetworkClient(transport, [hasty]).send(.get("x").with(\.idleTimeout, nil))
    #expect(transport.sent.map(\.idleTimeout) == [.seconds(60), nil])
    #expect(transport.sent.map(\.timeout) == [nil, .milliseconds(250)])
  }

  @Test func `an environment replaces the base and brings its headers and query`() async throws {
    let transport = ClosureTransport()
    let staging = ServerEnvironment(
      baseURL: try #require(URL(string: "https://staging.example.com/v2")), headers: ["X-Stage": "1", "A": "env"],
      query: ["debug": "1"])
    let client = NetworkClient(transport)
    try await client.send(.get("x", headers: ["A": "request"]).with(\.environment, staging))
    #expect(transport.sent[0].url.absoluteString == "https://staging.example.com/v2/x?debug=1")
    #expect(transport.sent[0].headers["X-Stage"] == "1")
    #expect(transport.sent[0].headers.values(for: "A") == ["request"])
  }

  @Test func `a full URL on another origin does not get the environment's headers and query`() async throws {
    let transport = ClosureTransport()
    var configuration = RequestConfiguration()
    configuration.options.environment = ServerEnvironment(
      baseURL: baseURL, headers: ["X-Key": "k"], query: ["key": "k"])
    let client = NetworkClient(configuration: configuration, transport: transport)
    try await client.send(.get(url: try #require(URL(string: "https://other.example/x"))))
    #expect(transport.sent[0].url.query() == nil)
    #expect(!transport.sent[0].headers.contains("X-Key"))
  }

  @Test func `a variant of a client shares its transport and has its own settings`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport)
    let variant = client.with { $0.behaviors.append(ClosureBehavior("v", headers: { _ in ["V": "1"] })) }
    try await client.send(.get("x"))
    try await variant.send(.get("x"))
    #expect(transport.sent.map { $0.headers["V"] } == [nil, "1"])
  }
}
