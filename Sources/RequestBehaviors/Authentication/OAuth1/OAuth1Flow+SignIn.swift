public import Foundation

extension OAuth1Flow {
  /// Signs a user in with a browser that calls back.
  ///
  /// - Parameter authorize: Opens the page and returns the URL that the service called back; what it throws ends the
  ///   sign-in.
  /// - Returns: The user's credentials, which the session signs with from now on, and what else the service told.
  /// - Throws: ``NetworkError``, or what the closure throws.
  @discardableResult
  public func signIn(_ authorize: (_ url: URL) async throws -> URL) async throws -> OAuth1AccessToken {
    let token = try await begin()
    return try await finish(token, callback: try await authorize(try authorizeURL(for: token)))
  }

  /// Signs a user in with a page that shows a code to type, for flows without a callback.
  ///
  /// - Parameter askForCode: Opens the page and returns the code that the user typed.
  /// - Returns: The user's credentials, which the session signs with from now on, and what else the service told.
  /// - Throws: ``NetworkError``, or what the closure throws.
  @discardableResult
  public func signInWithCode(_ askForCode: (_ url: URL) async throws -> String) async throws -> OAuth1AccessToken {
    let token = try await begin()
    return try await finish(token, verifier: try await askForCode(try authorizeURL(for: token)))
  }
}

extension OAuth1Flow {
  /// Sends a request for a token and reads the answer.
  func exchange<Token>(
    _ url: URL, as credentials: OAuth1Credentials, sending parameters: [(name: String, value: String)],
    reading read: (OAuth1TokenResponse) throws -> Token
  ) async throws -> Token {
    let behavior = OAuth1FlowBehavior(
      session: session, origin: Origin(url),
      signer: OAuth1Signer(
        consumer: session.consumer, credentials: credentials, method: session.signatureMethod, options: session.options),
      parameters: parameters)
    // Whatever the client requires of other requests, this one brings its own credentials.
    let request = Request<NetworkResponse>(method, url: url).with(\.authentication, .optional)
      .without(OAuth1Behavior.self).with(behavior)
    let response: NetworkResponse
    do {
      response = try await client.send(request)
    } catch let error as NetworkError {
      throw OAuth1Flow.refusal(in: error) ?? error
    }
    do {
      return try read(OAuth1TokenResponse(try response.data))
    } catch var error as NetworkError {
      error.response = response
      error.request = response.request
      throw error
    }
  }

  /// The reason that a failure gives, in its body or its challenge.
  private static func refusal(in error: NetworkError) -> NetworkError? {
    guard error.code == .unacceptableStatus, let response = error.response else { return nil }
    return OAuth1Refusal(response).problem.map { OAuth1TokenResponse.refusal($0, response: response) }
  }
}

/// Signs a request for a token, and only on the endpoint's origin.
private struct OAuth1FlowBehavior: RequestBehavior {
  let order = BehaviorOrder.signing
  let session: OAuth1Session
  let origin: Origin?
  let signer: OAuth1Signer
  let parameters: [(name: String, value: String)]

  func modify(_ request: inout NetworkRequest) async throws {
    guard request.origin == origin else { return }
    try await session.sign(&request, with: signer, additional: parameters)
  }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard request.origin == origin else { return try await next(request) }
    return try await session.correctingClock(request, next: next)
  }
}
