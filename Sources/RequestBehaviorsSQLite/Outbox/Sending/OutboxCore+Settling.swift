import Foundation
import RequestBehaviors

/// Settles entries: records what an attempt has shown.
extension OutboxCore {
  /// The consequence of an attempt.
  struct Settled: Sendable {
    /// The outcome of the attempt, which differs if the response could not be saved.
    var outcome: OutboxOutcome
    /// The attempt at the entry that was claimed in the same transaction.
    var next: OutboxAttempt?
  }

  /// Records what an attempt has shown.
  ///
  /// - Parameters:
  ///   - row: The entry.
  ///   - ending: The end of the attempt.
  ///   - terms: The terms on which another entry is claimed, in the transaction of a delivery; nil to claim none.
  /// - Returns: The outcome, and the entry that was claimed.
  /// - Throws: The error of the file.
  func settle(
    _ row: OutboxRow, _ ending: OutboxAttempt.Ending, claiming terms: ClaimTerms?
  ) async throws -> Settled {
    guard ending.outcome == .delivered, let delivery = ending.delivery, let handler = handlers[row.operation] else {
      try await settle(row, ending.outcome)
      return Settled(outcome: ending.outcome)
    }
    // Decoded outside the transaction, and after it is certain that the server has the request.
    let value = Result { try handler.value(delivery.response) }
    do {
      let next = try await deliver(row, handler, delivery, value, terms)
      return Settled(outcome: .delivered, next: next)
    } catch is OwnerLeft {
      // The next user must not see rows of the user who left. The entry is sent again when its own user is back.
      let outcome = OutboxOutcome.withoutUser("its user signed out before the response was saved", wasSent: true)
      try await settle(row, outcome)
      return Settled(outcome: outcome)
    } catch let unsaved as Unsaved {
      let outcome = OutboxOutcome.notSaved(unsaved.text(for: delivery.response))
      try await settle(row, outcome)
      return Settled(outcome: outcome)
    }
  }

  /// The error of the operation's own method.
  private struct Unsaved: Error {
    var error: any Error

    /// Returns the text of the error, which can quote the response, without the secrets of the call.
    func text(for response: NetworkResponse) -> String {
      Redactor.standard.hiding(secretsOf: response).redact(text: "\(error)")
    }
  }

  /// The user of the call has left since the request was sent, and may come back.
  private struct OwnerLeft: Error {}

  /// Ends an entry that was delivered; returns the attempt at the entry that was claimed with that.
  private func deliver(
    _ row: OutboxRow, _ handler: OutboxHandler, _ delivery: OutboxAttempt.Delivery,
    _ value: Result<any Sendable, any Error>, _ terms: ClaimTerms?
  ) async throws -> OutboxAttempt? {
    let (now, remembered) = (now, settings.remembersDelivered.storedTime)
    let (owner, operation) = (delivery.response.request.call.owner, delivery.operation)
    let (claimed, made) = try await store.writeTogether(durability: .full) { db -> Claimed? in
      // The check is in the transaction, so that removing rows after a sign-out removes every earlier one.
      let (hasLeft, scopes) = (!owner.isPresent, OutboxScopes.scopes(of: row.scope))
      if hasLeft, !scopes.isEmpty, self.mayAllReturn(scopes) { throw OwnerLeft() }
      guard try self.table(db).deliver(row, now: now, remembered: remembered) else { return nil }
      // The server has the request of a user who cannot come back, so that it has not failed.
      if case .success(let value) = value, !hasLeft {
        do {
          try handler.delivered(operation, value, db)
        } catch  where !SQLiteError.isEnvironmental(error) {
          throw Unsaved(error: error)
        }
      }
      let unused = try self.table(db).unused(row.files, besides: row)
      if !unused.isEmpty { try db.afterCommit { self.files?.remove(unused) } }
      return try terms.map { try self.claimNext($0, db) } ?? Claimed()
    } thenReading: { claimed, db in
      try self.make(claimed?.row, db)
    }
    guard let claimed else { return nil }
    tickets.note(value, of: row.id)
    var failure: (any Error)?
    if case .failure(let error) = value { failure = error }
    tell(OutboxEvent(.delivered, id: row.id, name: row.operation, error: failure))
    tell(claimed.events)
    noteDelivery()
    await wakeNotReady()
    return attempt(claimed.row, made, terms)
  }

  private func settle(_ row: OutboxRow, _ outcome: OutboxOutcome) async throws {
    let now = now
    let scopes = OutboxScopes.scopes(of: row.scope)
    let hasSession = scopes.contains(where: isOfSession)
    let verdict = OutboxNextStep(
      outcome, row, settings, hasSession: hasSession, now: now, random: RandomSource.fraction())
    switch verdict {
    case .delivered: break
    case .again(let again), .pause(let again):
      let (isOurs, event) = try await store.writeTogether(durability: .full, isCancellable: false) { db in
        // The entries that wait become dead letters at the sign-out; this one was under way.
        if self.settings.atSignOut == .hold, !self.mayAllReturn(scopes) {
          return (false, try self.kill(row, .ownerHasLeft, db, now))
        }
        return (try self.table(db).release(row, again, now: now), nil as OutboxEvent?)
      }
      if let event { tell(event) }
      guard isOurs, !outcome.isEnd, case .again = verdict else { return }
      tell(
        OutboxEvent(
          .retrying, id: row.id, name: row.operation, failure: again.failure, date: Date(storedTime: again.time)))
    case .dead(let failure):
      let event = try await store.writeTogether(durability: .full, isCancellable: false) { db in
        try self.kill(row, failure, db, now)
      }
      if let event { tell(event) }
    }
  }

  /// Makes a dead letter of an entry; returns the event that tells of it, nil if the entry is not claimed any more.
  private func kill(_ row: OutboxRow, _ failure: OutboxFailure, _ db: Database, _ now: Int64) throws -> OutboxEvent? {
    guard try table(db).kill(row, failure, lanes: settings.lanes, now: now) else { return nil }
    let error = try reject(row, failure, db)
    return OutboxEvent(.dead, id: row.id, name: row.operation, failure: failure, error: error)
  }

  /// Lets an entry whose request could not be made wait for a delivery, when its wait is in the file.
  ///
  /// - Parameters:
  ///   - seq: The entry.
  ///   - deliveries: The number of deliveries before the entry was claimed. If there was one since, the entry is tried
  ///     again at once, because its request may have been asked for before that delivery.
  func waitForDelivery(_ seq: Int64, since deliveries: Int) async {
    noteNotReady([seq])
    if deliveryCount != deliveries { await wakeNotReady() }
  }

  /// Makes entries due that waited for a delivery.
  ///
  /// If the file fails, they wait for the next delivery.
  private func wakeNotReady() async {
    let waiting = takeNotReady()
    guard !waiting.isEmpty else { return }
    let now = now
    do {
      try await store.writeTogether(durability: .normal, isCancellable: false) { db in
        for seq in waiting {
          try db.execute(
            "UPDATE outbox_entry SET not_before = \(now), set_at = \(now) WHERE seq = \(seq) AND state = 0")
        }
      }
    } catch {
      noteNotReady(waiting)
    }
    signal.raise()
  }
}
