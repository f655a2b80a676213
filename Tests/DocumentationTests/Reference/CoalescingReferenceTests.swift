import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

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

  @Test func `users are asked for together`() {
    let users = BatchBehavior(
      "users",
      group: { $0.endpoint == "users/{}" ? "users" : nil },
      merge: { requests in
        let ids = requests.map(\.url.lastPathComponent)
        var merged = requests[0]
        merged.url.deleteLastPathComponent()
        merged.url.append(queryItems: [
          URLQueryItem(name: "ids", value: ids.joined(separator: ","))
        ])
        return merged
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
    #expect(users.name == "users")
  }
}
