/// The meaning of an error code for those who react to it: retries, circuit breakers and caches.
///
/// ```swift
/// do {
///   try await client.send(.post("orders", body: .json(order)))
/// } catch let error as NetworkError
///   where error.code.kinds.contains(.network)
/// {
///   offerToTryAgain()
/// }
/// ```
///
/// A code of a module or of a user has no kind.
public struct FailureKinds: OptionSet, Sendable, Hashable {
  /// The bits of the kinds.
  public let rawValue: UInt8

  /// Creates kinds from their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The network or the server failed: worth a retry, and counted by circuit breakers.
  public static let network = FailureKinds(rawValue: 1)
  /// The library refused the request, so the error says nothing about the server.
  public static let refusal = FailureKinds(rawValue: 1 << 1)
  /// The same request may succeed later without any change.
  public static let transient = FailureKinds(rawValue: 1 << 2)
  /// The request was certainly not sent.
  public static let unsent = FailureKinds(rawValue: 1 << 3)
  /// No retry policy and no decider repeats the request.
  public static let final = FailureKinds(rawValue: 1 << 4)
  /// A stale response may be returned instead (RFC 5861 §4).
  public static let staleInstead = FailureKinds(rawValue: 1 << 5)

  // The only place that lists codes by their meaning; each other list is derived. A new code gets a row here.
  static let table: [NetworkError.Code: FailureKinds] = [
    // The network or the server.
    .cannotConnect: [.network, .transient, .unsent, .staleInstead],
    .dnsFailed: [.network, .transient, .unsent, .staleInstead],
    .connectionLost: [.network, .transient, .staleInstead],
    .truncatedBody: [.network, .transient, .staleInstead],
    .timedOut: [.network, .transient, .staleInstead],
    .transportFailed: [.network, .transient, .staleInstead],
    // Stale data would hide a server that cannot be trusted.
    .tlsFailed: [.unsent],
    .intercepted: [.transient],
    // Refusals of the library. A call past its deadline may have sent a request before.
    .circuitOpen: [.refusal, .transient, .unsent, .final, .staleInstead],
    .offline: [.refusal, .transient, .unsent, .final, .staleInstead],
    .deadlineExceeded: [.refusal, .transient, .final, .staleInstead],
    .rateLimited: [.refusal, .transient, .unsent, .final],
    .concurrencyLimited: [.refusal, .transient, .unsent, .final],
    .gateClosed: [.refusal, .transient, .unsent, .final],
    // Requests that cannot be sent, or not again.
    .invalidURL: [.unsent],
    .invalidRequest: [.unsent],
    .encodingFailed: [.unsent],
    .credentialsWithheld: [.unsent],
    .unsupportedAddress: [.unsent],
    .notSignedIn: [.unsent],
    .tokenUnavailable: [.unsent],
    .tokenStoreFailed: [.unsent],
    .invalidBehavior: [.unsent, .final],
    .bodyConsumed: [.unsent, .final],
    .tooManyAttempts: [.final],
    .clientShutDown: [.final],
  ]

  /// Returns all codes of a kind.
  static func codes(_ kind: FailureKinds) -> Set<NetworkError.Code> {
    Set(table.lazy.filter { $0.value.contains(kind) }.map(\.key))
  }
}

extension NetworkError.Code {
  /// The meaning of the code for retries, circuit breakers and caches; empty for the codes of modules and users.
  public var kinds: FailureKinds { FailureKinds.table[self] ?? [] }
}

// MARK: - Statuses

extension StatusCodes {
  /// The statuses with which a server says that the same request may succeed later: 408, 425, 429, 500, 502, 503, 504.
  public static let transient: StatusCodes = [408, 425, 429, 500, 502, 503, 504]

  /// The statuses of a server that did not act on the request: 421 (RFC 9110 §15.5.20) and 429 (RFC 6585 §4).
  public static let refusals: StatusCodes = [421, 429]

  /// The statuses that circuit breakers count: 408, 429 and all 5xx, except 501 and 505.
  ///
  /// A server that lacks a method or a version of HTTP works.
  public static let brokenServer = StatusCodes(506...599).union([408, 429, 500, 502, 503, 504])

  /// The statuses that a stale response may replace (RFC 5861 §4).
  public static let staleInstead: StatusCodes = [500, 502, 503, 504]

  /// The statuses that tell that a limit without a figure is exhausted.
  static let exhaustedLimit: StatusCodes = [413, 429, 503]
}
