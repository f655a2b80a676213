import Foundation
import RequestBehaviors

/// One attempt to deliver an entry that was claimed.
struct OutboxAttempt: Sendable {
  /// How it ended, with the response of a delivery and the operation that it is for.
  struct Ending: Sendable {
    var outcome: OutboxOutcome
    var delivery: Delivery?
  }

  /// The response of a delivery and the operation that it is for.
  typealias Delivery = (operation: any OutboxOperation, response: NetworkResponse)

  let core: OutboxCore
  let row: OutboxRow
  /// The owners of calls just before the entry was claimed.
  let members: [ClientOwners.Member]
  /// The number of deliveries just before then.
  let deliveries: Int
  /// The operation and its request, or the error of making them.
  let made: Result<OutboxHandler.Made, any Error>

  /// Sends the request, and returns what the outcome says.
  func run() async -> Ending {
    do {
      let made = try made.get()
      let request = try complete(made)
      return await send(request, try core.ownList(of: request), made.operation)
    } catch {
      return Ending(outcome: outcome(of: error))
    }
  }

  /// Returns a closure that tells whether no user of the entry has left since it was claimed.
  ///
  /// The entry of a user who is back may have been discarded.
  private func presence() -> @Sendable () -> Bool {
    let scopes = OutboxScopes.scopes(of: row.scope)
    @Sendable func own(_ members: [ClientOwners.Member]) -> [ClientOwners.Member] {
      members.filter { $0.scope.map(scopes.contains) ?? false }
    }
    // Weak, because the requests of a client, which have it among their options, must not keep the client.
    return { [weak core, before = own(members)] in core.map { own($0.members) == before } ?? false }
  }

  // MARK: The request

  /// The error of an entry without one of its attachments.
  private struct MissingFiles: Error, CustomStringConvertible {
    var names: [String]
    var description: String { "the attachment \(names.joined(separator: ", ")) is missing" }
  }

  /// Returns the outcome of an attempt for which there is no request.
  private func outcome(of error: any Error) -> OutboxOutcome {
    if error is OutboxNotReady { return .notReady }
    // The file could not be read, or the method was stopped, which says nothing about the entry.
    if error is CancellationError || SQLiteError.isEnvironmental(error) {
      return .unsent(until: core.clock.date(), "\(error)")
    }
    return .impossible(Redactor.standard.redact(text: "\(error)"))
  }

  private func complete(_ made: OutboxHandler.Made) throws -> Request<NetworkResponse> {
    var request = made.request
    if let missing = core.files?.missing(row.files), !missing.isEmpty { throw MissingFiles(names: missing) }
    OutboxRequestRules.prepare(&request, key: row.key, in: made.operation.delivery.key)
    // It was enqueued while no user was signed in, and stays so.
    if core.requirement(of: request.options).isOptional,
      let withheld = OutboxScopes.withheld(from: row.scope, core.members)
    {
      request.options.authentication = .optional(without: withheld)
    }
    return request
  }

  // MARK: Sending

  private func send(
    _ made: Request<NetworkResponse>, _ list: OutboxOwnList?, _ operation: any OutboxOperation
  ) async -> Ending {
    let members = core.members
    let scope = OutboxScopes.expected(
      of: row.scope, list?.left(of: members) ?? members, for: core.requirement(of: made.options))
    let pass = OutboxPass(scope: scope, own: list?.own ?? [], method: made.method, areUsersPresent: presence())
    var request = made
    request.options.outboxPass = pass
    let sent: Result<NetworkResponse, any Error>
    do { sent = .success(try await core.client.sendUnmapped(request)) } catch { sent = .failure(error) }
    let end = pass.end()
    let (trust, wasSentBefore) = (core.settings.trust, row.sends > 1)
    switch end.result ?? sent {
    case .success(let response):
      // A behavior can respond itself, which tells nothing of the server.
      guard end.wasSent else {
        return Ending(outcome: .nothing("a behavior of the client responded, and nothing was sent", wasSent: false))
      }
      let outcome = OutboxOutcome(response, trust, wasSentBefore: wasSentBefore).after(end.seeOther, trust)
      if outcome == .delivered { return Ending(outcome: outcome, delivery: (operation, response)) }
      return delivery(in: outcome, by: end.done, operation) ?? Ending(outcome: outcome)
    case .failure(let error):
      let outcome = OutboxOutcome(
        error, end.text(of: error), trust, wasSentBefore: wasSentBefore, wasSent: end.wasSent,
        isStopped: Task.isCancelled, isClientEnding: !core.client.takesCalls
      ).after(end.seeOther, trust)
      return delivery(in: outcome, by: end.done, operation) ?? Ending(outcome: outcome)
    }
  }

  /// Returns the delivery that a 303 proves although the request for the result is refused for good.
  ///
  /// After other failures the entry is sent again with its key, so that its value comes.
  private func delivery(
    in outcome: OutboxOutcome, by done: NetworkResponse?, _ operation: any OutboxOperation
  ) -> Ending? {
    switch outcome {
    case .refused, .impossible: break
    default: return nil
    }
    guard let done, core.settings.trust.includes(done) else { return nil }
    return Ending(outcome: .delivered, delivery: (operation, done))
  }
}
