/// Detects responses of intermediaries, such as a captive portal that responds with 200 to everything.
///
/// Each send carries a fresh nonce in a header, which the server returns unmodified. A response without the correct
/// echo fails with ``NetworkError/Code-swift.struct/intercepted`` if its status is one with which an impostor could do
/// harm, or one that the request accepts. Such a response reaches no behavior further out, no decoding, no cache and no
/// database, and its redirect is not followed. Other failures without the echo reach the caller unchanged, with
/// ``NetworkResponse/isVerified`` `false`.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.nonceVerification()])
/// ```
///
/// A request to another origin than the listed ones gets no nonce and is not checked. The call records that, and the
/// error of a 401 from such an origin says so.
public struct NonceVerificationBehavior: UniqueBehavior {
  /// Innermost, except for the user's `.last`.
  public let order = BehaviorOrder.verification
  private let verification: NonceVerification
  private let origins: OriginScope
  private let makeNonce: @Sendable () -> String

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - verification: The header, and the statuses to check.
  ///   - origins: The servers that echo; by default the base URL's origin.
  ///   - makeNonce: Returns a value that was never used; by default 132 random bits.
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
    // A server that does not echo would fail every check, so that requests to it are not verified.
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
    // A failure that needs no echo is passed on unverified; it cannot count as a success.
    case .unverified where !response.isAcceptable:
      response.isVerified = false
      return response
    case .unverified, .intercepted:
      response.body.cancel()
      throw intercepted(response, marked)
    }
  }

  /// Returns an error with the status only, because the rest of the response may be an impostor's.
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
