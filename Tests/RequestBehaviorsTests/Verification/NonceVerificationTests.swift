import Foundation
import RequestBehaviors
import Testing

@Suite struct NonceVerificationTests {
  private let echo = ClosureTransport { request in
    var headers = HTTPHeaders()
    headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
    return NetworkResponse(request: request, statusCode: 200, headers: headers)
  }

  @Test func `an answer with the right echo passes as verified`() async throws {
    let response: NetworkResponse = try await NetworkClient(echo, [.nonceVerification()]).send(.get("x"))
    #expect(response.isVerified)
    #expect(echo.sent[0].headers["X-API-Nonce"]?.utf8.count == 22)
  }

  @Test func `a nonce is fresh per attempt`() async throws {
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    try await NetworkClient(echo, [again, .nonceVerification()]).send(.get("x"))
    #expect(echo.sent.count == 2)
    #expect(Set(echo.sent.map { $0.headers["X-API-Nonce"] }).count == 2)
  }

  @Test func `nonces of many sends never repeat`() async throws {
    let client = NetworkClient(echo, [.nonceVerification()])
    for _ in 0..<200 { try await client.send(.get("x")) }
    #expect(Set(echo.sent.compactMap { $0.headers["X-API-Nonce"] }).count == 200)
  }

  @Test(arguments: [200, 204, 301, 302, 399, 401, 407, 511])
  func `a checked status without the echo is intercepted`(status: Int) async {
    let client = NetworkClient(ClosureTransport(status), [.nonceVerification()])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .intercepted)
    #expect(error?.response == nil)
    #expect(error?.message.contains("answered \(status)") == true)
  }

  @Test(arguments: [400, 403, 404, 429, 500, 502, 503])
  func `another failure without the echo passes as the failure it is, not verified`(status: Int) async {
    let client = NetworkClient(ClosureTransport(status), [.nonceVerification()])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .unacceptableStatus)
    #expect(error?.response?.isVerified == false)
  }

  @Test func `an echo of another nonce, an altered one and a doubled one are intercepted`() async {
    for alter: @Sendable (String) -> String in [{ _ in "stale" }, { $0.lowercased() + "x" }, { "\($0), \($0)" }] {
      let transport = ClosureTransport { request in
        let nonce = alter(request.headers["X-API-Nonce"] ?? "")
        return NetworkResponse(request: request, statusCode: 200, headers: ["X-API-Nonce": nonce])
      }
      let client = NetworkClient(transport, [.nonceVerification()])
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
      #expect(error?.code == .intercepted)
      #expect(error?.message.contains("with another X-API-Nonce echo") == true)
    }
  }

  @Test func `which statuses are checked and which header carries the nonce is configurable`() async throws {
    let verification = NonceVerification(header: "X-Echo", checkedStatuses: [500])
    let lax = NonceVerificationBehavior(verification, makeNonce: { "fixed" })
    let transport = ClosureTransport(statuses: [200, 500])
    let client = NetworkClient(transport, [lax])
    let response: NetworkResponse = try await client.send(.get("x"))
    #expect(!response.isVerified)
    #expect(transport.sent[0].headers["X-Echo"] == "fixed")
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .intercepted)
  }

  @Test func `other origins are neither marked nor checked, listed ones are`() async throws {
    let other = try #require(URL(string: "https://other.example/x"))
    let transport = ClosureTransport()
    try await NetworkClient(transport, [.nonceVerification()]).send(.get(url: other))
    #expect(!transport.sent[0].headers.contains("X-API-Nonce"))
    let origin = try #require(Origin(other))
    let listed = NetworkClient(transport, [.nonceVerification(origins: .only([origin]))])
    await #expect(throws: NetworkError.self) { try await listed.send(.get(url: other)) }
  }

  @Test func `an intercepted answer reaches no behavior further out, no decoding and no redirect target`() async {
    let journal = Journal()
    let transport = ClosureTransport(302, "login", headers: ["Location": "https://portal.example/"])
    let watch = JournalBehavior(name: "watch", journal: journal)
    let client = NetworkClient(transport, [watch, .nonceVerification()])
    let error = await #expect(throws: NetworkError.self) { let _: String = try await client.send(.get("x")) }
    #expect(error?.code == .intercepted)
    #expect(transport.sent.count == 1)
    #expect(journal.count(of: "watch.afterSuccess") == 0)
    #expect(journal.count(of: "watch.interceptAfter") == 0)
    #expect(journal.count(of: "watch.afterFailure") == 1)
  }
}
