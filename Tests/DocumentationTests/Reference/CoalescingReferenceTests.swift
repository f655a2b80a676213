import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Reports that a request has joined a batch.
private struct Joins: CallObserver {
  let continuation: AsyncStream<Void>.Continuation

  func eventRecorded(_ event: Call.Event, of call: Call) {
    if event.source == "BatchBehavior", event.message.hasPrefix("waits") { continuation.yield() }
  }
}

/// The samples in the reference of what joins, holds or doubles requests.
@Suite(.limited) struct CoalescingReferenceTests {
  private let mock = answering(#"{"name": "Mona"}"#)

  // Compiled only.
  func `identical requests are sent once`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.coalescing()])
    func load() async throws {
      async let first: User = client.send(.get("me"))
      async let second: User = client.send(.get("me"))
      let users = try await [first, second]  // one request
      print(users)
    }
    _ = load
  }

  // Compiled only.
  func `a slow request is hedged`() {
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.retry(), .hedging(after: .milliseconds(300))])
    _ = client
  }

  // Compiled only.
  func `a gate holds requests while the app migrates its data`() async throws {
    func migrate() async throws {
      let gate = Gate()
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.gate(gate)])
      gate.close()  // the app migrates its data
      async let user: User = client.send(.get("me"))
      gate.open()
      print(try await user)
    }
    _ = migrate
  }

  // Compiled only.
  func `a request passes a closed gate`() {
    func status() async throws {
      let gate = Gate(longestWait: .seconds(30))
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.gate(gate)])
      try await client.send(.get("status").with(\.bypassesGate, true))
    }
    _ = status
  }

  // Compiled only.
  func `requests are refused while the device is offline`() {
    let (reachability, _) = AsyncStream.makeStream(of: Bool.self)
    let connectivity = Connectivity(reachability)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.offline(connectivity)])
    _ = client
  }

  // Compiled only.
  func `the system knows whether the device is offline`() {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.offline(.system())])
    _ = client
  }

  @Test func `users are requested together`() async throws {
    let users = BatchBehavior(
      "users",
      group: { $0.endpoint == "users/{}" ? "users" : nil },
      merge: { requests in
        let ids = requests.map(\.url.lastPathComponent)
        return try requests[0].moved(
          to: "../users?ids=" + ids.joined(separator: ","))
      },
      split: { response, requests in
        let users = try response.decode([String: User].self)
        return try requests.map { request in
          let user = users[request.url.lastPathComponent]
          var own = response
          own.body = .data(try JSONEncoder().encode(user))
          return .success(own)
        }
      })
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "users").respond(200, jsonText: #"{"7":{"name":"Mona"},"8":{"name":"Lisa"}}"#)
    let (joined, continuation) = AsyncStream.makeStream(of: Void.self)
    let clock = ManualClock()
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [users, Joins(continuation: continuation)])
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: mock)
    async let seventh: User = client.send(.get("users/\(7)"))
    async let eighth: User = client.send(.get("users/\(8)"))
    for await _ in joined.prefix(2) {}
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(10))
    #expect(try await [seventh.name, eighth.name] == ["Mona", "Lisa"])
    #expect(mock.sent.map(\.url.path) == ["/v1/users"])
    #expect(["ids=7,8", "ids=8,7"].contains(mock.sent.first?.url.query()))
  }
}
