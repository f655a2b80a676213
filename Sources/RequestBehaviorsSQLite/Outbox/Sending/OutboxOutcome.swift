import Foundation
import RequestBehaviors

/// The outcome of an attempt, as far as it says something about the entry.
enum OutboxOutcome: Sendable, Equatable {
  /// The server has the request.
  case delivered
  /// The server has the request, and the response could not be saved.
  case notSaved(String)
  /// The server refuses the request for now, perhaps until a time.
  case refusedForNow(status: Int, until: Date?, String)
  /// The server refuses the request.
  case refused(status: Int, String)
  /// The user of the entry is not signed in, as the library or, by a status, the server says.
  case withoutUser(String, status: Int? = nil, wasSent: Bool)
  /// No token could be got for the user of the entry, which says nothing about the entries of others.
  case withoutToken(String, wasSent: Bool)
  /// No response came; the request may have arrived if it was sent.
  case lost(String, wasSent: Bool)
  /// Nothing that can be proved came from the server, and no other request would get more.
  ///
  /// A request that was sent may have reached the server all the same: an intermediary can respond for it.
  case nothing(String, wasSent: Bool)
  /// The library refused the request until a time.
  case unsent(until: Date, String)
  /// No request can be made yet.
  case notReady
  /// No request can ever be made.
  case impossible(String)
  /// The client is shut down, or sending was stopped.
  case ended(wasSent: Bool)
}

extension OutboxOutcome {
  /// The statuses of intermediaries: a proxy (RFC 9110 §15.5.8) and a network that asks for a sign-in (RFC 6585 §6).
  private static let ofIntermediaries: StatusCodes = [407, 511]

  /// The statuses after which the same request may succeed: the transient ones, and 421 on another connection.
  private static let refusedForNow = StatusCodes.transient.union([421])

  /// Creates the outcome of a response.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - trust: The proof that it comes from the server.
  ///   - wasSentBefore: Whether an earlier attempt may have arrived.
  init(_ response: NetworkResponse, _ trust: OutboxTrust, wasSentBefore: Bool) {
    let status = response.statusCode
    guard trust.includes(response), !Self.ofIntermediaries.contains(status) else {
      self = .nothing("the response was \(status), without a proof that it comes from the server", wasSent: true)
      return
    }
    let text = "the response was \(status)" + (response.serverMessage.map { ": \($0)" } ?? "")
    let hints = ServerHints(response)
    // The key of the earlier attempt is still in use (draft-ietf-httpapi-idempotency-key-header-07 §2.7).
    let isInUse = status == 409 && wasSentBefore
    switch status {
    case _ where response.isAcceptable: self = .delivered
    case _ where hints.shouldRetry == false: self = .refused(status: status, text)
    case _ where hints.shouldRetry == true || isInUse || Self.refusedForNow.contains(status):
      let clock = response.request.call.clock
      let until = hints.delay.map { clock.date().addingTimeInterval(Double($0.storedTime) / 1_000) }
      self = .refusedForNow(status: status, until: until, text)
    case 401: self = .withoutUser(text, status: status, wasSent: true)
    default: self = .refused(status: status, text)
    }
  }

  private static let withoutUser: Set<NetworkError.Code> = [.notSignedIn, .signedOut]

  private static let withoutToken: Set<NetworkError.Code> = [.tokenUnavailable, .tokenStoreFailed]

  private static let impossible: Set<NetworkError.Code> = [
    .invalidURL, .invalidRequest, .encodingFailed, .credentialsWithheld, .bodyUnreadable, .bodyConsumed,
  ]

  /// Creates the outcome of an error.
  ///
  /// - Parameters:
  ///   - error: The error, as it arose.
  ///   - text: Its text, without the secrets of the call.
  ///   - trust: The proof that a response in it comes from the server.
  ///   - wasSentBefore: Whether an earlier attempt may have arrived.
  ///   - wasSent: Whether the call has sent a request.
  ///   - isStopped: Whether the outbox has cancelled the attempt.
  ///   - isClientEnding: Whether the client of the outbox takes no more calls.
  init(
    _ error: any Error, _ text: String, _ trust: OutboxTrust, wasSentBefore: Bool, wasSent: Bool, isStopped: Bool,
    isClientEnding: Bool
  ) {
    if isStopped, error is CancellationError {
      self = .ended(wasSent: wasSent)
      return
    }
    guard let error = error as? NetworkError else {
      // An error of a behavior of the user's says nothing about the network, and little about the entry.
      self = .lost(text, wasSent: wasSent)
      return
    }
    if error.code == .clientShutDown, isClientEnding {
      // The error may also be that of another client, which a behavior of the user's calls.
      self = .ended(wasSent: wasSent)
    } else if error.code == .intercepted {
      self = .nothing(text, wasSent: wasSent)
    } else if error.response != nil, !wasSent {
      // A behavior has made the response up.
      self = .nothing(text, wasSent: false)
    } else if let response = error.response {
      let outcome = OutboxOutcome(response, trust, wasSentBefore: wasSentBefore)
      // The response was good, and something that had to be done with it failed.
      self = outcome == .delivered ? .notSaved(text) : outcome.with(text)
    } else if Self.withoutUser.contains(error.code) {
      self = .withoutUser(text, wasSent: wasSent && error.mayHaveArrived)
    } else if Self.withoutToken.contains(error.code) {
      self = .withoutToken(text, wasSent: wasSent && error.mayHaveArrived)
    } else if Self.impossible.contains(error.code) {
      self = .impossible(text)
    } else if wasSent, error.mayHaveArrived {
      self = .lost(text, wasSent: true)
    } else if let date = error.availableAt {
      self = .unsent(until: date, text)
    } else {
      self = .nothing(text, wasSent: false)
    }
  }

  /// Returns the outcome with a text that says more.
  private func with(_ text: String) -> OutboxOutcome {
    switch self {
    case .refused(let status, _): .refused(status: status, text)
    case .refusedForNow(let status, let date, _): .refusedForNow(status: status, until: date, text)
    case .withoutUser(_, let status, let wasSent): .withoutUser(text, status: status, wasSent: wasSent)
    case .nothing(_, let wasSent): .nothing(text, wasSent: wasSent)
    default: self
    }
  }

  /// Returns the outcome of an attempt whose request got a 303; a 303 without a proof lets no response count.
  ///
  /// The 303 of a portal can lead to any server, whose responses may pass as the own server's.
  func after(_ seeOther: NetworkResponse?, _ trust: OutboxTrust) -> OutboxOutcome {
    guard let seeOther, !trust.includes(seeOther) else { return self }
    switch self {
    case .delivered, .notSaved, .refusedForNow, .refused, .withoutUser(_, status: _?, wasSent: _):
      return .nothing("the 303 came without a proof that it is the server's", wasSent: true)
    default: return self
    }
  }

  /// Whether the attempt was stopped.
  var isEnd: Bool { if case .ended = self { true } else { false } }

  /// Whether the server responded, so that the network works.
  var provesNetwork: Bool {
    switch self {
    case .delivered, .notSaved, .refusedForNow, .refused: true
    default: false
    }
  }
}
