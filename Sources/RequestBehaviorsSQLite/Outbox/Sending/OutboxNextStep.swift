import Foundation
import RequestBehaviors

/// The decision about an entry after an attempt.
enum OutboxNextStep: Sendable, Equatable {
  /// It is delivered.
  case delivered
  /// It is sent again.
  case again(Again)
  /// It is sent again after a pause of the network or of its owner, which is no wait of its own.
  case pause(Again)
  /// It is a dead letter.
  case dead(OutboxFailure)

  /// The conditions of the next attempt.
  struct Again: Sendable, Equatable {
    /// The time from which it is due.
    var time: Int64
    /// The number of attempts that the server refused for now or whose response was lost, since the last success.
    var failures: Int
    /// The time of the first response by which the server refused for now.
    var refusedSince: Int64?
    var failure: OutboxFailure?
    /// Whether the attempt may have reached the server.
    var wasSent: Bool
  }

  /// The wait of an entry that has no user or no request yet, unless a `drain` or a sign-in comes before.
  private static let recheck: Int64 = 30_000

  /// Decides about an entry.
  ///
  /// - Parameters:
  ///   - outcome: The outcome of the attempt.
  ///   - row: The entry as it was claimed.
  ///   - settings: The settings of the outbox.
  ///   - hasSession: Whether one of the owners of the entry is that of a session.
  ///   - now: The time.
  ///   - random: A random number from 0 to 1, for the backoff.
  init(
    _ outcome: OutboxOutcome, _ row: OutboxRow, _ settings: OutboxConfiguration, hasSession: Bool, now: Int64,
    random: Double
  ) {
    let again = Again(
      time: now, failures: row.failures, refusedSince: row.refusedSince, failure: row.failure, wasSent: false)
    switch outcome {
    case .delivered: self = .delivered
    case .ended(let wasSent):
      var next = again
      next.wasSent = wasSent
      // An entry that was not sent keeps its place among the others. The clock may have been set back since the claim.
      if !wasSent { next.time = min(row.notBefore, now) }
      self = .again(next)
    case .notReady: self = .again(again.waiting(until: now + Self.recheck, row))
    case .withoutUser(let text, let status?, _) where !hasSession:
      // No user can come back: the server refuses the app's own credential.
      let since = min(row.refusedSince ?? now, now)
      guard now - since < settings.patience.storedTime else {
        self = .dead(OutboxFailure(.refused, statusCode: status, message: text))
        return
      }
      var next = again.waiting(until: now + Self.recheck, row, OutboxFailure(.signedOut, message: text), wasSent: true)
      next.refusedSince = since
      self = .again(next)
    case .withoutUser(let text, _, let wasSent):
      let failure = OutboxFailure(.signedOut, message: text)
      self = .again(again.waiting(until: now + Self.recheck, row, failure, wasSent: wasSent))
    case .nothing(let text, let wasSent), .withoutToken(let text, let wasSent):
      let failure = OutboxFailure(.lost, message: text)
      self = .pause(again.waiting(until: now, row, failure, wasSent: wasSent))
    case .unsent(let date, let text):
      let latest = now + settings.longestServerDelay.storedTime
      let time = min(max(date.storedTime, now + 1_000), latest)
      self = .again(again.waiting(until: time, row, OutboxFailure(.lost, message: text)))
    case .lost(let text, let wasSent):
      var next = again.failed(row, OutboxFailure(.lost, message: text), settings, now, random)
      next.wasSent = wasSent
      self = .again(next)
    case .refusedForNow(let status, let date, let text):
      let failure = OutboxFailure(.refused, statusCode: status, message: text)
      self = OutboxNextStep(refused: failure, until: date, again, row, settings, now, random)
    case .notSaved(let text):
      let failure = OutboxFailure(.notSaved, message: text)
      self = OutboxNextStep(refused: failure, until: nil, again, row, settings, now, random)
    case .refused(let status, let text): self = .dead(OutboxFailure(.refused, statusCode: status, message: text))
    case .impossible(let text): self = .dead(OutboxFailure(.unreadable, message: text))
    }
  }

  /// Decides about an entry that the server refuses for now: it is sent again as long as the patience lasts.
  private init(
    refused failure: OutboxFailure, until date: Date?, _ again: Again, _ row: OutboxRow,
    _ settings: OutboxConfiguration, _ now: Int64, _ random: Double
  ) {
    // A clock that was set back must not make the patience longer than it is.
    let since = min(row.refusedSince ?? now, now)
    if now - since >= settings.patience.storedTime {
      self = .dead(failure)
      return
    }
    var next = again.failed(row, failure, settings, now, random)
    next.refusedSince = since
    if let date {
      let asked = min(date.storedTime, now + settings.longestServerDelay.storedTime)
      next = next.waiting(until: max(next.time, asked), row, failure)
    }
    self = .again(next)
  }
}

extension OutboxNextStep.Again {
  /// Returns the conditions with another time; an entry that expires is looked at when it does.
  fileprivate func waiting(
    until time: Int64, _ row: OutboxRow, _ failure: OutboxFailure? = nil, wasSent: Bool = false
  ) -> Self {
    var again = self
    again.time = min(time, row.expiresAt ?? time)
    if let failure { again.failure = failure }
    again.wasSent = again.wasSent || wasSent
    return again
  }

  /// Returns the conditions after one more failure, with a wait that grows.
  fileprivate func failed(
    _ row: OutboxRow, _ failure: OutboxFailure, _ settings: OutboxConfiguration, _ now: Int64, _ random: Double
  ) -> Self {
    let delay = settings.backoff.delay(beforeRetry: row.failures + 1, random: random)
    var again = waiting(until: now + delay.storedTime, row, failure)
    again.failures = row.failures + 1
    again.wasSent = true
    return again
  }
}
