import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Attempts that redirects, replays and other requests make more than one send of: each send counts for a repeat.
@Suite(.limited) struct RetryOfSeveralSendsTests {
  private let clock = LeapingClock()

  /// Sends a request, and returns the methods and URLs of all sends.
  private func sends(
    of request: Request<Void> = .post("orders"), _ behaviors: [any RequestBehavior] = [], decider: RetryDecider? = nil,
    _ respond: @escaping @Sendable (Int, NetworkRequest) throws -> NetworkResponse
  ) async -> [String] {
    let transport = ClosureTransport(numbered: respond)
    let retry = RetryBehavior(budget: .unlimited, random: { 0 }, decider: decider)
    try? await NetworkClient(transport, clock.requestClock, [retry] + behaviors).send(request)
    return transport.sent.map { "\($0.method) \($0.url.host() ?? "")\($0.url.path())" }
  }

  private static func redirect(_ request: NetworkRequest, _ status: Int, to location: String) -> NetworkResponse {
    NetworkResponse(request: request, statusCode: status, headers: ["Location": location])
  }

  @Test(arguments: [301, 302, 303], [429, 421])
  func `a POST that led to a GET is not sent again if the GET is refused`(status: Int, refusal: Int) async {
    let sends = await sends { _, request in
      request.method == .get
        ? NetworkResponse(request: request, statusCode: refusal) : Self.redirect(request, status, to: "/orders/1")
    }
    #expect(sends == ["POST api.example.com/v1/orders", "GET api.example.com/orders/1"])
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .dnsFailed])
  func `a POST that led to a GET is not sent again if the GET cannot be sent`(code: NetworkError.Code) async {
    let sends = await sends { _, request in
      if request.method == .get { throw NetworkError(code, "") }
      return Self.redirect(request, 303, to: "https://other.example/orders/1")
    }
    #expect(sends == ["POST api.example.com/v1/orders", "GET other.example/orders/1"])
  }

  @Test func `a POST that succeeded is not sent again for the error of another request`() async {
    let audit = ClosureBehavior("audit", afterSuccess: { _, _ in throw NetworkError(.dnsFailed, "") })
    let sends = await sends([audit]) { _, request in NetworkResponse(request: request, statusCode: 200) }
    #expect(sends.count == 1)
  }

  @Test func `a POST is sent again if a request before it could not be sent`() async {
    let count = Box(0)
    let key = ClosureBehavior("key", order: .signing) { request, next in
      count.update { $0 += 1 }
      if count.value == 1 { throw NetworkError(.dnsFailed, "") }
      return try await next(request)
    }
    let sends = await sends([key]) { _, request in NetworkResponse(request: request, statusCode: 200) }
    #expect(count.value == 2)
    #expect(sends.count == 1)
  }

  @Test(arguments: [307, 308])
  func `a POST that was only sent on is sent again`(status: Int) async {
    let sends = await sends { number, request in
      if number == 2 { throw NetworkError(.cannotConnect, "") }
      if number == 4 { return NetworkResponse(request: request, statusCode: 429) }
      return number == 6
        ? NetworkResponse(request: request, statusCode: 200) : Self.redirect(request, status, to: "/orders")
    }
    #expect(sends.count == 6)
  }

  @Test(arguments: [400, 401, 421, 429])
  func `a POST whose replay was refused is sent again`(status: Int) async {
    let replay = ClosureBehavior("replay") { request, next in
      let response = try await next(request)
      return response.statusCode == status ? try await next(request) : response
    }
    let sends = await sends([replay]) { number, request in
      if number == 2 { throw NetworkError(.cannotConnect, "") }
      return NetworkResponse(request: request, statusCode: number == 1 ? status : 200)
    }
    #expect(sends.count == 3)
  }

  @Test func `a POST whose first send may have taken effect is not sent again after a replay`() async {
    let replay = ClosureBehavior("replay") { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let sends = await sends([replay]) { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 429)
    }
    #expect(sends.count == 2)
  }

  @Test func `an attempt is judged by its own sends`() async {
    let decider: RetryDecider = { $0.response?.statusCode == 409 ? .retry(after: .zero) : $0.suggestion }
    let sends = await sends(decider: decider) { number, request in
      if number == 2 { throw NetworkError(.cannotConnect, "") }
      return NetworkResponse(request: request, statusCode: number == 1 ? 409 : 200)
    }
    #expect(sends.count == 3)
  }

  @Test func `a one-shot body is not sent again for the error of a redirect, whatever the decider says`() async {
    let decider: RetryDecider = { _ in .retry(after: .zero) }
    let sends = await sends(of: .post("token").with(\.isSentOnce, true), decider: decider) { _, request in
      if request.method == .get { throw NetworkError(.cannotConnect, "") }
      return Self.redirect(request, 303, to: "/done")
    }
    #expect(sends.count == 2)
  }

  // MARK: Keys

  private let capture: Request<Void> = .post("orders/7/capture").with(\.idempotencyKey, .value("order-7"))

  @Test(arguments: [503, nil])
  func `a POST that was sent on without its key is not sent again if it may have taken effect`(status: Int?) async {
    let sends = await sends(of: capture) { _, request in
      if request.url.host() == "api.example.com" { return Self.redirect(request, 307, to: "https://pay.example/7") }
      guard let status else { throw NetworkError(.connectionLost, "") }
      return NetworkResponse(request: request, statusCode: status)
    }
    #expect(sends == ["POST api.example.com/v1/orders/7/capture", "POST pay.example/7"])
  }

  @Test func `a POST that was sent on without its key is sent again if it did not arrive`() async {
    let sends = await sends(of: capture) { number, request in
      if request.url.host() == "api.example.com" { return Self.redirect(request, 307, to: "https://pay.example/7") }
      if number == 2 { throw NetworkError(.cannotConnect, "") }
      return NetworkResponse(request: request, statusCode: number == 4 ? 429 : 200)
    }
    #expect(sends.count == 6)
  }

  @Test func `a POST that was sent on with its key is sent again`() async {
    let sends = await sends(of: capture) { number, request in
      if request.url.path() == "/v1/orders/7/capture" { return Self.redirect(request, 308, to: "/v2/7") }
      return NetworkResponse(request: request, statusCode: number == 2 ? 503 : 200)
    }
    #expect(sends.count == 4)
  }

  @Test func `a POST whose key was sent to another origin is sent again`() async throws {
    let mirror = try #require(URL(string: "https://mirror.example/7"))
    let sends = await sends(of: capture, [ClosureBehavior("mirror", modify: { $0.url = mirror })]) { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200)
    }
    #expect(sends.count == 2)
  }

  @Test func `a POST with a key is sent again if the GET that it led to fails`() async {
    let sends = await sends(of: capture) { number, request in
      if request.method != .get { return Self.redirect(request, 303, to: "https://other.example/7") }
      return NetworkResponse(request: request, statusCode: number == 2 ? 503 : 200)
    }
    #expect(sends.count == 4)
  }
}
