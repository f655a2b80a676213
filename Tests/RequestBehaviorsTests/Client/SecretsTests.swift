import Foundation
import RequestBehaviors
import Testing

/// Credentials go only to the origins they are for.
@Suite struct SecretsTests {
  private let transport = ClosureTransport(401)
  private let auth = ClosureBehavior(
    "auth", order: .authentication,
    headers: { _ in HTTPHeaders([.init("Authorization", "Bearer canary", sensitive: .baseURL)]) })

  @Test func `a secret of the base URL's origin is removed on the way to another host`() async throws {
    let client = NetworkClient(transport, [auth])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let other = try #require(URL(string: "https://other.example/x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get(url: other)) }
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer canary", nil])
    #expect(error?.message.contains("Authorization kept from https://other.example") == true)
  }

  @Test func `another port or scheme of the host is another origin`() async throws {
    let client = NetworkClient(transport, [auth])
    for text in ["https://api.example.com:8443/x", "http://api.example.com/x"] {
      _ = try? await client.send(Request<Void>.get(url: try #require(URL(string: text))))
    }
    #expect(transport.sent.count == 2)
    #expect(transport.sent.allSatisfy { !$0.headers.contains("Authorization") })
  }

  @Test func `an environment on another origin gets no credentials, and its 401 says so`() async throws {
    let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.example.com")))
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [auth]).send(.get("x").with(\.environment, staging))
    }
    #expect(!transport.sent[0].headers.contains("Authorization"))
    #expect(error?.message.contains("credentials are bound to other origins") == true)
  }

  @Test func `a listed origin gets the secret`() async throws {
    let partner = try #require(Origin("https://partner.example"))
    let key = ClosureBehavior(
      "key", headers: { _ in HTTPHeaders([.init("X-Key", "canary", sensitive: .only([partner]))]) })
    let client = NetworkClient(transport, [key])
    _ = try? await client.send(Request<Void>.get("x"))
    _ = try? await client.send(Request<Void>.get(url: try #require(URL(string: "https://partner.example/x"))))
    #expect(transport.sent.map { $0.headers["X-Key"] } == [nil, "canary"])
  }

  @Test func `an environment's secret goes to its own origin only`() async throws {
    var headers = HTTPHeaders()
    headers.set("X-Key", "canary", sensitive: .baseURL)
    let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.example.com")), headers: headers)
    _ = try? await NetworkClient(transport).send(Request<Void>.get("x").with(\.environment, staging))
    #expect(transport.sent[0].headers["X-Key"] == "canary")
  }

  @Test func `no description of an error, a request or a response shows a secret`() async throws {
    let transport = ClosureTransport(500, #"{"access_token":"canary"}"#, headers: ["Content-Type": "application/json"])
    let request = Request<Int>.get("x", query: ["api_key": "canary"]).with(
      header: "X-Key", "canary", sensitive: .baseURL)
    let error = await #expect(throws: NetworkError.self) {
      _ = try await NetworkClient(transport, [auth]).send(request)
    }
    var dumped = ""
    dump(error, to: &dumped)
    let shown = [
      "\(error as Any)", error?.debugDescription, error?.errorDescription, error?.localizedDescription, dumped,
      error?.request?.description, error?.response?.description, error?.attempts.description,
      error?.request?.headers.description,
    ]
    for text in shown { #expect(text?.contains("canary") == false, "\(text ?? "")") }
  }
}
