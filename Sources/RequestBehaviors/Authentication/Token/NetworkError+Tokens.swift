extension NetworkError.Code {
  /// There is no token and none can be had without the user: call ``TokenSession/signIn(_:)``.
  public static let notSignedIn = Self(rawValue: "notSignedIn")
  /// The session was signed out, or another user was signed in, while the request was under way.
  public static let signedOut = Self(rawValue: "signedOut")
  /// A token could not be got for a reason other than the token endpoint's refusal.
  public static let tokenUnavailable = Self(rawValue: "tokenUnavailable")
  /// A token store could not be read or written.
  public static let tokenStoreFailed = Self(rawValue: "tokenStoreFailed")
}

extension NetworkError {
  /// Returns the error by which a ``TokenSource`` says that it cannot get a token without the user.
  ///
  /// Thrown from a refresh it signs the session out.
  ///
  /// - Parameter message: What happened and what to do, without secrets.
  /// - Returns: An error of code ``Code-swift.struct/notSignedIn``.
  public static func notSignedIn(
    _ message: String = "nobody is signed in; call signIn(_:) on the session, or send with authentication .none"
  ) -> NetworkError {
    NetworkError(.notSignedIn, message)
  }

  static func signedOut() -> NetworkError {
    NetworkError(.signedOut, "the session was signed out while the request was under way; it was not sent again")
  }

  static func tokenTimedOut(after limit: Duration) -> NetworkError {
    NetworkError(.timedOut, "there was no token after \(limit); the source or the store of the session does not answer")
  }

  static func tokenDeadlinePassed() -> NetworkError {
    NetworkError(.timedOut, "the call's deadline passed while it waited for a token")
  }

  static func tokenSourceCancelled() -> NetworkError {
    NetworkError(
      .tokenUnavailable, "the source of the session cancelled itself", underlyingError: CancellationError())
  }

  static func tooManyRefreshes(_ policy: TokenRefreshPolicy, _ last: (any Error)?) -> NetworkError {
    NetworkError(
      .tokenUnavailable,
      "a token was asked for \(policy.limit) times within \(policy.window); wait before asking again",
      response: (last as? NetworkError)?.response, underlyingError: last)
  }

  static func noSuchSession(_ name: String, _ names: Set<String>) -> NetworkError {
    let others = names.isEmpty ? "none" : names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    return .invalidBehavior(
      "the request is to be authenticated by \"\(name)\" only, and the client has \(others)")
  }

  static func tokenSourceWaitsForItself() -> NetworkError {
    .invalidBehavior(
      "a TokenSource sent a request that waits for the token which the source is to get; send it with the client that "
        + "the source is given, or with authentication .none")
  }

  static func tokenStoreFailed(_ message: String, _ error: (any Error)? = nil) -> NetworkError {
    NetworkError(.tokenStoreFailed, message, underlyingError: error)
  }
}
