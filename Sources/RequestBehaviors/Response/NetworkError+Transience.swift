extension NetworkError {
  /// How far an attempt had come when it failed.
  public struct Progress: Sendable, Hashable {
    /// How much of an attempt was over.
    public enum Stage: Sendable, Hashable {
      /// Nothing of the request can have reached the server.
      case notSent
      /// Some or all of the request may have reached the server.
      case sent
      /// The head of the response was there.
      case headReceived
    }

    /// How much of the attempt was over.
    public var stage: Stage
    /// Whether the connection had been used before; `nil` if the transport cannot tell.
    ///
    /// A server may close a connection at the moment at which a client uses it again (RFC 9112 §9.3.1). What is lost
    /// that way says nothing of the server, and the next connection will do.
    public var reusedConnection: Bool?

    /// Creates the progress of an attempt.
    ///
    /// - Parameters:
    ///   - stage: How much of the attempt was over.
    ///   - reusedConnection: Whether the connection had been used before; by default not known.
    public init(_ stage: Stage, reusedConnection: Bool? = nil) {
      self.stage = stage
      self.reusedConnection = reusedConnection
    }
  }

  /// Whether the same request may succeed later, with nothing changed but the time.
  ///
  /// | what | transient | because |
  /// |---|---|---|
  /// | `cannotConnect`, `dnsFailed` | yes | networks come and go |
  /// | `connectionLost`, `truncatedBody`, `transportFailed` | yes | the next connection may hold |
  /// | `timedOut`, `deadlineExceeded` | yes | the server or the way to it may be faster then |
  /// | `circuitOpen`, `rateLimited`, `concurrencyLimited`, `gateClosed`, `offline` | yes | the reason passes |
  /// | `intercepted` | yes | once the user has signed in to the captive portal |
  /// | `unacceptableStatus` 408, 425, 429, 500, 502, 503, 504 | yes | the server says so |
  /// | `unacceptableStatus` otherwise | no | the server would refuse it again |
  /// | `tlsFailed` | no | a certificate that is not trusted now is not trusted in a second either |
  /// | `badResponse`, `redirectFailed`, `bodyTooLarge` | no | the server would do the same again |
  /// | `invalidURL`, `invalidRequest`, `encodingFailed`, `invalidBehavior`, … | no | the request itself is at fault |
  /// | `decodingFailed`, `emptyBody`, `unexpectedContentType` | no | the response is another one than expected |
  /// | `tooManyAttempts`, `clientShutDown`, `bodyConsumed`, `bodyUnreadable` | no | nothing is left to send |
  ///
  /// That a failure is transient does not say that a repeat is harmless: see ``mayHaveArrived``.
  public var isTransient: Bool {
    if code == .unacceptableStatus { return statusCode.map(StatusCodes.transient.contains) ?? false }
    return isRefusedLocally || Self.transientCodes.contains(code)
  }

  /// Whether a send of the call may have reached the server and taken effect there.
  ///
  /// It is false only where that is certain: nothing was sent, or every attempt failed before it had a connection. A
  /// request that creates something is then safe to repeat. The transport's ``progress`` decides; without it, the code
  /// does: `cannotConnect`, `dnsFailed` and `tlsFailed` are before the request, and so is what refuses it on this side.
  public var mayHaveArrived: Bool {
    let earlier = attempts.dropLast(lastAttemptMayHaveArrived ? 0 : 1)
    return lastAttemptMayHaveArrived || earlier.contains { $0.outcome.mayHaveArrived }
  }

  /// Whether the attempt that failed may have reached the server, whatever the earlier ones did.
  public var lastAttemptMayHaveArrived: Bool {
    if let progress { return progress.stage != .notSent }
    return !Self.unsentCodes.contains(code)
  }

  /// Whether this side refused the request, as a circuit breaker or a limit does.
  ///
  /// It says nothing of the server. No retry follows it, and what counts failures does not count it.
  public var isRefusedLocally: Bool { Self.refusalCodes.contains(code) }

  private static let refusalCodes: Set<Code> = [
    .circuitOpen, .rateLimited, .concurrencyLimited, .gateClosed, .offline, .deadlineExceeded,
  ]

  /// What happens on the way to a server or with the server itself.
  public static let networkFailures: Set<Code> = [
    .cannotConnect, .dnsFailed, .connectionLost, .truncatedBody, .timedOut, .transportFailed,
  ]

  private static let transientCodes = networkFailures.union([.intercepted])

  /// Of a call past its deadline nobody knows.
  fileprivate static let unsentCodes: Set<Code> = refusalCodes.subtracting([.deadlineExceeded]).union([
    .invalidURL, .invalidRequest, .encodingFailed, .invalidBehavior, .credentialsWithheld, .cannotConnect, .dnsFailed,
    .tlsFailed, .unsupportedAddress, .bodyConsumed,
  ])
}

extension Attempt.Outcome {
  /// Whether the server may have acted on the attempt.
  fileprivate var mayHaveArrived: Bool {
    guard case .failure(let code?, _) = self else { return true }
    return !NetworkError.unsentCodes.contains(code)
  }
}

extension StatusCodes {
  /// The statuses with which a server says that the same request may succeed later: 408, 425, 429, 500, 502, 503, 504.
  public static let transient: StatusCodes = [408, 425, 429, 500, 502, 503, 504]
}
