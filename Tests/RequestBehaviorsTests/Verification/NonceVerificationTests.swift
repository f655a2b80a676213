import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct NonceVerificationTests {
  private let echo = ClosureTransport { request in
    var headers = HeaderFields()
    headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
    return NetworkResponse(request: request, statusCode: 200, headers: headers)
  }

  @Test func `a response with the right echo passes as verified`() async throws {
    let response: NetworkResponse = try await NetworkClient(echo, [.nonceVerification()]).send(.get("x"))
    #expect(response.isVerified)
    #expect(echo.sent[0].headers["X-API-Nonce"]?.utf8.count == 22)
  }

  @Test func `every attempt has a fresh nonce`() async throws {
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
    for alter: @Sendable (String) -> String in [
      { _ in "stale" }, { $0.lowercased() + "x" }, { "\($0), \($0)" }, { "\($0)," }, { ", \($0)" },
    ] {
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

  @Test func `the checked statuses and the header of the nonce are configurable`() async throws {
    let verification = NonceVerification(header: "X-Echo", checkedStatuses: [500])
    let lax = NonceVerificationBehavior(verification, makeNonce: { "fixed" })
    let transport = ClosureTransport(statuses: [401, 500])
    let client = NetworkClient(transport, [lax])
    let refused = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(refused?.statusCode == 401)
    #expect(refused?.response?.isVerified == false)
    #expect(transport.sent[0].headers["X-Echo"] == "fixed")
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .intercepted)
  }

  @Test func `a repeated nonce, also in two fields, is not accepted as unmodified`() {
    let verification = NonceVerification()
    let once: HeaderFields = ["X-API-Nonce": "n"]
    #expect(verification.verdict(statusCode: 200, headers: once, nonce: "n") == .verified)
    for second in ["n", "other", ""] {
      var twice = once
      twice.append("x-api-nonce", second)
      #expect(verification.verdict(statusCode: 200, headers: twice, nonce: "n") == .intercepted)
      #expect(verification.verdict(statusCode: 500, headers: twice, nonce: "n") == .unverified)
    }
  }

  @Test func `white space around an echo is not part of it`() async throws {
    let transport = ClosureTransport { request in
      let nonce = request.headers["X-API-Nonce"] ?? ""
      return NetworkResponse(request: request, statusCode: 200, headers: ["X-API-Nonce": "\t \(nonce) \t"])
    }
    let response: NetworkResponse = try await NetworkClient(transport, [.nonceVerification()]).send(.get("x"))
    #expect(response.isVerified)
    #expect(response.headers["X-API-Nonce"] == transport.sent[0].headers["X-API-Nonce"])
  }

  // MARK: Statuses that a request accepts

  @Test func `a forged 404 does not become nil, and reaches no behavior further out`() async throws {
    let journal = Journal()
    let watch = JournalBehavior(name: "watch", journal: journal)
    let client = NetworkClient(ClosureTransport(404, "{}"), [watch, .nonceVerification()])
    let error = await #expect(throws: NetworkError.self) {
      let _: String? = try await client.send(.get("x").nilWhenNotFound())
    }
    #expect(error?.code == .intercepted)
    #expect(error?.response == nil)
    #expect(journal.count(of: "watch.afterSuccess") == 0)
    #expect(journal.count(of: "watch.interceptAfter") == 0)
    #expect(journal.count(of: "watch.afterFailure") == 1)
  }

  @Test(arguments: [200, 304, 403, 418, 500])
  func `a status that the request accepts needs the echo, whatever is checked besides`(status: Int) async throws {
    let behavior = NonceVerificationBehavior(NonceVerification(checkedStatuses: []))
    let forged = NetworkClient(ClosureTransport(status, "forged"), [behavior])
    let request = Request<String>.get("x").with(\.acceptableStatuses, .all)
    let error = await #expect(throws: NetworkError.self) { _ = try await forged.send(request) }
    #expect(error?.code == .intercepted)
    #expect(error?.message.contains("answered \(status) in the server's place, with no X-API-Nonce echo") == true)
    let honest = ClosureTransport { sent in
      var headers = HeaderFields()
      headers["X-API-Nonce"] = sent.headers["X-API-Nonce"]
      return NetworkResponse(request: sent, statusCode: status, headers: headers, body: .data(Data("ok".utf8)))
    }
    #expect(try await NetworkClient(honest, [behavior]).send(request) == "ok")
  }

  @Test func `a forged 304 to a conditional request is intercepted`() async throws {
    let behavior = NonceVerificationBehavior(NonceVerification(checkedStatuses: []))
    let client = NetworkClient(ClosureTransport(304), [behavior])
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.get("x", headers: ["If-None-Match": "\"1\""]))
    }
    #expect(error?.code == .intercepted)
  }

  @Test func `a response that a custom verification marks as unverified is not a success either`() async throws {
    let journal = Journal()
    let cancelled = Box(0)
    let transport = ClosureTransport { request in
      let stream = ByteStream(ByteStream(chunks: [Data("x".utf8)]), onCancel: { cancelled.update { $0 += 1 } })
      return NetworkResponse(request: request, statusCode: 200, body: .stream(stream))
    }
    let own = ClosureBehavior("own", order: .verification) { request, next in
      var response = try await next(request)
      response.isVerified = false
      return response
    }
    let client = NetworkClient(transport, [JournalBehavior(name: "watch", journal: journal), own])
    let error = await #expect(throws: NetworkError.self) { let _: String = try await client.send(.get("x")) }
    #expect(error?.code == .intercepted)
    #expect(error?.response == nil)
    #expect(journal.count(of: "watch.afterSuccess") == 0)
    #expect(journal.count(of: "watch.interceptAfter") == 0)
    #expect(cancelled.value == 1)
  }

  @Test func `a redirect that is not verified is not followed, whatever is checked`() async {
    let transport = ClosureTransport(302, headers: ["Location": "/elsewhere"])
    let behavior = NonceVerificationBehavior(NonceVerification(checkedStatuses: []))
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [behavior]).send(.get("x"))
    }
    #expect(error?.statusCode == 302)
    #expect(error?.response?.isVerified == false)
    #expect(transport.sent.count == 1)
  }

  @Test func `the body of an intercepted answer is cancelled`() async {
    let cancelled = Box(0)
    // A released stream is cancelled without a call of `cancel`.
    let stream = ByteStream(ByteStream(chunks: [Data("x".utf8)]), onCancel: { cancelled.update { $0 += 1 } })
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 200, body: .stream(stream)) }
    let client = NetworkClient(transport, [.nonceVerification()])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(cancelled.value == 1)
  }

  @Test func `a response of an unlisted origin is recorded as unverified, and the error for its 401 says so`()
    async throws
  {
    let client = NetworkClient(ClosureTransport(401), [.nonceVerification()])
    let other = try #require(URL(string: "https://other.example/x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get(url: other)) }
    #expect(error?.code == .unacceptableStatus)
    #expect(error?.message.contains("the verification by X-API-Nonce kept from https://other.example") == true)
    let sources = error?.request?.call.events.map(\.source)
    #expect(sources == ["NonceVerificationBehavior"])
  }

  @Test func `unlisted origins are neither marked nor checked, and listed ones are`() async throws {
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
