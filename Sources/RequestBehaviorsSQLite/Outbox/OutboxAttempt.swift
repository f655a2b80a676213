import Foundation
import RequestBehaviors

/// One attempt to deliver an entry that was claimed.
struct OutboxAttempt: Sendable {
  /// How it ended, with the response of a delivery.
  struct Ending: Sendable {
    var outcome: OutboxOutcome
    var response: NetworkResponse?
  }

  let core: OutboxCore
  let row: OutboxRow
  let handler: OutboxHandler

  /// Makes the request, sends it, and returns what the outcome says.
  func run() async -> Ending {
    let request: Request<NetworkResponse>
    do {
      request = try await makeRequest()
    } catch let unmade as Unmade {
      return Ending(outcome: unmade.outcome)
    } catch is CancellationError {
      return Ending(outcome: .ended)
    } catch {
      // The file could not be read, which says nothing about the entry.
      return Ending(outcome: .lost("\(error)"))
    }
    return await send(request)
  }

  // MARK: The request

  /// An entry of which no request was made.
  private struct Unmade: Error {
    var outcome: OutboxOutcome
  }

  private func makeRequest() async throws -> Request<NetworkResponse> {
    let (row, handler, files) = (row, handler, core.files)
    let made = try await core.store.read { db in
      // The error of the user's method is told from those of the store.
      Result { try handler.request(row.payload, files, db) }
    }
    var request: Request<NetworkResponse>
    do {
      request = try made.get()
      try OutboxRules.check(request)
    } catch is OutboxNotReady {
      throw Unmade(outcome: .notReady)
    } catch let error as SQLiteError where OutboxRules.isEnvironmental(error) {
      throw error
    } catch {
      throw Unmade(outcome: .impossible(Redactor.standard.redact(text: "\(error)")))
    }
    if let missing = core.files?.missing(row.files), !missing.isEmpty {
      throw Unmade(outcome: .impossible("the attachment \(missing.joined(separator: ", ")) is missing"))
    }
    OutboxRules.prepare(&request, key: row.key)
    let isAnonymous = row.scope == OutboxScopes.anonymous(core.members)
    // It was enqueued while no user was signed in, and stays so.
    if isAnonymous, core.requirement(of: request.options).isOptional { request.options.authentication = .none }
    return request
  }

  // MARK: Sending

  private func send(_ made: Request<NetworkResponse>) async -> Ending {
    let gate = OutboxGuard(
      scope: OutboxScopes.expected(of: row.scope, core.members, for: core.requirement(of: made.options)))
    var request = made
    request.behaviors += [gate, OutboxHops(request.method)]
    let wasSentBefore = row.sends > 1
    let result: Result<NetworkResponse, any Error>
    do {
      let response = try await core.client.sendUnmapped(request)
      result = gate.result ?? .success(response)
    } catch {
      result = gate.result ?? .failure(error)
    }
    let trust = core.settings.trust
    switch result {
    case .success(let response):
      let outcome = OutboxOutcome(response, trust, wasSentBefore: wasSentBefore)
      return Ending(outcome: outcome, response: outcome == .delivered ? response : nil)
    case .failure(let error):
      return Ending(
        outcome: OutboxOutcome(error, trust, wasSentBefore: wasSentBefore, wasSent: gate.wasSent))
    }
  }
}

/// The rules for requests of operations.
enum OutboxRules {
  /// Throws if a request cannot be delivered by an outbox.
  static func check<Value>(_ request: Request<Value>) throws {
    guard !request.method.isSafe else {
      throw NetworkError(
        .invalidRequest,
        "a \(request.method) changes nothing on the server, so there is nothing that must arrive; send it")
    }
    guard let path = request.pathBelowBase, request.options.environment == nil else {
      throw NetworkError(
        .invalidRequest,
        "a request of an outbox goes to a path below the base URL of its client; leave the full URL or the environment "
          + "out, or make an outbox with a client of that server")
    }
    if let fault = path.fault { throw NetworkError(.invalidRequest, fault) }
  }

  /// Sets what the outbox decides: the key, and that no other part of the client repeats the request.
  static func prepare(_ request: inout Request<NetworkResponse>, key: String) {
    request.options.retryPolicy = RetryPolicy.none
    request.options.hedging = nil
    request.options.caching = .noStore
    request.options.offlineRule = .refuse
    let own = request.options.idempotencyKey
    let value = own?.givenValue ?? key
    let name = own?.name ?? "Idempotency-Key"
    // For each method: the option is for those that are not idempotent only.
    if !request.headers.contains(name) { request.headers.set(name, own?.isQuoted == true ? "\"\(value)\"" : value) }
    request.options.idempotencyKey = IdempotencyKey.value(value).inField(name, isQuoted: own?.isQuoted ?? false)
  }

  private static let environmental: Set<SQLiteError.Code> = [
    .busy, .locked, .noMemory, .readOnly, .interrupted, .io, .corrupt, .full, .cannotOpen, .notADatabase,
  ]

  /// Whether an error of SQLite comes from the file or the disk and not from what was asked of it.
  static func isEnvironmental(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return false }
    return environmental.contains(error.code)
  }
}
