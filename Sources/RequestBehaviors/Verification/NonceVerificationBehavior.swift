/// Unmasks whoever answers in the server's place, such as a captive portal that answers 200 to everything.
///
/// Each send carries a fresh nonce in a header; the server returns it unmodified. A response without the right echo, of
/// a status with which an impostor could do harm, fails with ``NetworkError/Code-swift.struct/intercepted``: it reaches
/// no behavior further out, no decoding, no cache and no database, and its redirect is not followed. The same is true of
/// every status that the request would accept. Other failures without the echo reach the caller as what they are, with
/// ``NetworkResponse/isVerified`` false.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.nonceVerification()])
/// ```
///
/// Requests to other origins than the listed ones are neither marked nor checked, which the call records and a 401 of
/// such an origin tells.
public struct NonceVerificationBehavior: UniqueBehavior {
  /// Innermost but for the user's `.last`.
  public let order = BehaviorOrder.verification
  private let verification: NonceVerification
  private let origins: OriginScope
  private let makeNonce: @Sendable () -> String

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - verification: The header and the statuses that are checked.
  ///   - origins: The servers that echo; by default the base URL's origin.
  ///   - makeNonce: Makes a value that was never used; by default 132 random bits.
  public init(
    _ verification: NonceVerification = NonceVerification(), origins: OriginScope = .baseURL,
    makeNonce: (@Sendable () -> String)? = nil
  ) {
    self.verification = verification
    self.origins = origins
    self.makeNonce = makeNonce ?? { Nonce.make() }
  }

  /// Returns whether the request goes to a server that echoes.
  public func verifies(_ request: NetworkRequest) -> Bool {
    request.origin.map { origins.includes($0, base: request.call.baseOrigin) } ?? false
  }

  /// Sends the request with a fresh nonce and checks the echo.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let origin = request.origin else { return try await next(request) }
    guard origins.includes(origin, base: request.call.baseOrigin) else {
      request.call.record(
        withheld: "the verification by \(verification.header)", from: origin, by: "NonceVerificationBehavior")
      return try await next(request)
    }
    let nonce = makeNonce()
    var marked = request
    marked.headers.set(verification.header, nonce)
    var response = try await next(marked)
    switch verification.verdict(statusCode: response.statusCode, headers: response.headers, nonce: nonce) {
    case .verified:
      response.verification = .verified
      return response
    case .unverified where !response.isAcceptable:
      response.isVerified = false
      return response
    case .unverified, .intercepted:
      response.body.cancel()
      throw intercepted(response, marked)
    }
  }

  /// The error tells the status only: nothing of what an impostor sent goes further.
  private func intercepted(_ response: NetworkResponse, _ request: NetworkRequest) -> NetworkError {
    let echo = response.headers.contains(verification.header) ? "another" : "no"
    return NetworkError(
      .intercepted,
      "something answered \(response.statusCode) in the server's place, with \(echo) \(verification.header) echo; "
        + "is there a captive portal to sign in to, or does the server not return the header?", request: request)
  }
}

extension RequestBehavior where Self == NonceVerificationBehavior {
  /// Checks that responses come from the server; see ``NonceVerificationBehavior``.
  public static func nonceVerification(
    header: String = "X-API-Nonce", origins: OriginScope = .baseURL
  ) -> NonceVerificationBehavior {
    NonceVerificationBehavior(NonceVerification(header: header), origins: origins)
  }
}
