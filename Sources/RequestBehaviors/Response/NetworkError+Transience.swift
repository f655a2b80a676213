extension NetworkError {
  /// The progress of an attempt at the time of its failure.
  public struct Progress: Sendable, Hashable {
    /// A stage of an attempt.
    public enum Stage: Sendable, Hashable {
      /// No part of the request can have reached the server.
      case notSent
      /// Some or all of the request may have reached the server.
      case sent
      /// The head of the response had arrived.
      case headReceived
    }

    /// The stage that the attempt had reached.
    public var stage: Stage
    /// Whether the connection had been used before; `nil` if the transport cannot tell.
    ///
    /// A server may close a connection at the moment at which a client reuses it (RFC 9112 §9.3.1). Such a failure says
    /// nothing about the server, and a new connection works.
    public var reusedConnection: Bool?

    /// Creates the progress of an attempt.
    ///
    /// - Parameters:
    ///   - stage: The stage that the attempt had reached.
    ///   - reusedConnection: Whether the connection had been used before; by default unknown.
    public init(_ stage: Stage, reusedConnection: Bool? = nil) {
      self.stage = stage
      self.reusedConnection = reusedConnection
    }
  }

  /// Whether the same request may succeed later without any change.
  ///
  /// | error | transient | because |
  /// |---|---|---|
  /// | `cannotConnect`, `dnsFailed` | yes | the network may recover |
  /// | `connectionLost`, `truncatedBody`, `transportFailed` | yes | the next connection may work |
  /// | `timedOut`, `deadlineExceeded` | yes | the server or the network may be faster then |
  /// | `circuitOpen`, `rateLimited`, `concurrencyLimited`, `gateClosed`, `offline` | yes | the reason passes |
  /// | `intercepted` | yes | the user may sign in to the captive portal |
  /// | `unacceptableStatus` 408, 425, 429, 500, 502, 503, 504 | yes | the server says so |
  /// | `unacceptableStatus` with `Retry-After` or `x-should-retry: true` | yes | the server says so |
  /// | `unacceptableStatus` with `x-should-retry: false` | no | the server says so |
  /// | `unacceptableStatus` otherwise | no | the server would refuse it again |
  /// | `tlsFailed` | no | an untrusted certificate stays untrusted |
  /// | `badResponse`, `redirectFailed`, `bodyTooLarge` | no | the server would do the same again |
  /// | `invalidURL`, `invalidRequest`, `encodingFailed`, `invalidBehavior`, … | no | the request itself is invalid |
  /// | `decodingFailed`, `emptyBody`, `unexpectedContentType` | no | the response is not of the expected kind |
  /// | `tokenUnavailable` | as its ``underlyingError`` | the next token request may succeed |
  /// | `notSignedIn`, `signedOut` | no | a user must sign in |
  /// | `tooManyAttempts`, `clientShutDown`, `bodyConsumed`, `bodyUnreadable` | no | nothing can be sent |
  ///
  /// A transient failure is not always safe to repeat: see ``mayHaveArrived``.
  public var isTransient: Bool {
    // While a token server is down, the user need not sign in again.
    if code == .tokenUnavailable { return (underlyingError as? NetworkError)?.isTransient ?? false }
    guard code == .unacceptableStatus else { return code.kinds.contains(.transient) }
    guard let response else { return false }
    let isTransient = StatusCodes.transient.contains(response.statusCode)
    // Fields of an unverified response may be an impostor's.
    guard response.isVerified else { return isTransient }
    let hints = ServerHints(response)
    return hints.shouldRetry ?? (isTransient || hints.retryAfter != nil)
  }

  /// Whether a send of the call may have reached the server and taken effect there.
  ///
  /// It is `false` only if that is certain: nothing was sent, or every attempt failed before it had a connection. A
  /// request that creates something is then safe to repeat. The transport's ``progress`` decides. Without it, the code
  /// does: `cannotConnect`, `dnsFailed` and `tlsFailed` occur before the request is sent, and so do a local refusal and
  /// a missing token.
  public var mayHaveArrived: Bool {
    if lastAttemptMayHaveArrived { return true }
    // Of the last attempt the progress knows more than its code, unless the error came after it without a send.
    let earlier = attempts.last?.outcome.hasFailed(with: code) == true ? attempts.dropLast() : attempts[...]
    return earlier.contains { $0.mayHaveArrived }
  }

  /// Whether the failed attempt may have reached the server, regardless of earlier attempts.
  public var lastAttemptMayHaveArrived: Bool {
    if let progress { return progress.stage != .notSent }
    return !code.kinds.contains(.unsent)
  }

  /// Whether the library refused the request locally, as a circuit breaker or a limit does.
  ///
  /// Such an error says nothing about the server. It is not retried, and it does not count as a failure of the server.
  public var isRefusedLocally: Bool { code.kinds.contains(.refusal) }

  /// The codes of failures in the network or at the server.
  public static let networkFailures = FailureKinds.codes(.network)
}

extension Attempt {
  /// Whether the server may have acted on the attempt.
  ///
  /// The ``progress`` decides: an attempt may time out before it has a connection. Without it, the ``outcome`` does.
  public var mayHaveArrived: Bool { progress.map { $0.stage != .notSent } ?? outcome.mayHaveArrived }
}

extension Attempt.Outcome {
  /// Whether the attempt failed with an error of this code.
  public func hasFailed(with code: NetworkError.Code) -> Bool {
    if case .failure(code, _) = self { true } else { false }
  }

  /// Whether the server may have acted on the attempt, as far as the outcome alone tells; see
  /// ``Attempt/mayHaveArrived``.
  public var mayHaveArrived: Bool {
    guard case .failure(let code?, _) = self else { return true }
    return !code.kinds.contains(.unsent)
  }
}
