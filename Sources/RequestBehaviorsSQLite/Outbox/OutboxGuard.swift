import RequestBehaviors

/// One attempt, as the behaviors of an outbox see it: whose call it must be, and how it ends.
final class OutboxPass: Sendable {
  /// The end of the call.
  struct Ending: Sendable {
    /// The outcome; nil if the call did not get as far as the behaviors of the outbox.
    var result: Result<NetworkResponse, any Error>?
    /// Whether the call has sent a request.
    var wasSent = false
  }

  /// The responses so far, of which all but the last were redirects.
  struct Hops: Sendable {
    var last: NetworkResponse?
    /// Whether a 303 has been followed.
    var isDone = false
  }

  private struct State {
    var ending = Ending()
    var hops = Hops()
    var isOver = false
  }

  /// The owner that the call must have.
  let scope: String?
  let method: RequestMethod
  private let state = Locked(State())

  init(scope: String?, method: RequestMethod) {
    self.scope = scope
    self.method = method
  }

  /// Keeps the outcome of the call.
  func note(_ result: Result<NetworkResponse, any Error>, of call: Call) {
    let wasSent = !call.attempts.isEmpty
    state.withLock { state in
      if !state.isOver { state.ending = Ending(result: result, wasSent: wasSent) }
    }
  }

  /// Returns the end of the call, and forgets the responses: they have the pass among their options.
  func end() -> Ending {
    state.withLock { state in
      state.isOver = true
      defer { (state.ending, state.hops) = (Ending(), Hops()) }
      return state.ending
    }
  }

  var hops: Hops { state.withLock { $0.hops } }

  /// Keeps a response that may be a redirect.
  func note(hop response: NetworkResponse) {
    state.withLock { state in
      if !state.isOver { state.hops = Hops(last: response, isDone: state.hops.isDone || response.statusCode == 303) }
    }
  }
}

extension RequestOptions {
  /// The option by which the behaviors of an outbox know its requests.
  ///
  /// Behaviors of each request would have the client sort its list for each attempt.
  private enum Pass: RequestOption {
    static let defaultValue: OutboxPass? = nil
    static let isPortable = true
  }

  /// The attempt that the request belongs to; nil for requests that are not an outbox's.
  var outboxPass: OutboxPass? {
    get { self[Pass.self] }
    set { self[Pass.self] = newValue }
  }
}

/// Lets an outbox hear that an owner has left.
final class OutboxListener: RequestBehavior {
  let order = BehaviorOrder.observation
  private let ended = Locked<(@Sendable (String) async -> Void)?>(nil)

  /// Sets the closure to call with each owner that has left.
  func onEnd(_ action: @escaping @Sendable (String) async -> Void) { ended.withLock { $0 = action } }

  func scopeEnded(_ scope: String) async { await ended.withLock { $0 }?(scope) }
}

/// Sends a request only in a call of the entry's own user, and notes how the call ends.
///
/// The check is inside the call: from here on a session sends its own user's token, or fails. An error is noted as it
/// arises; the caller's may have been replaced.
struct OutboxGuard: RequestBehavior {
  let order = BehaviorOrder.first

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let pass = request.options.outboxPass else { return try await next(request) }
    do {
      guard OutboxScopes.key(request.call.scopes) == pass.scope else {
        throw NetworkError(.notSignedIn, "the entry belongs to another user than the one who is signed in")
      }
      let response = try await next(request)
      pass.note(.success(response), of: request.call)
      return response
    } catch {
      pass.note(.failure(error), of: request.call)
      throw error
    }
  }
}
