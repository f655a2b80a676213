import RequestBehaviors

/// One attempt, as the behaviors of an outbox see it: whose call it must be, and how it ends.
final class OutboxPass: Sendable {
  /// The end of the call.
  struct Ending: Sendable {
    /// The outcome; nil if the call did not get as far as the behaviors of the outbox.
    var result: Result<NetworkResponse, any Error>?
    /// Whether the call has sent a request.
    var wasSent = false
    /// The 303 that was followed within its origin: the server had done what was asked.
    var done: NetworkResponse?
    /// The 303 to the request of the entry, after which the responses are to other requests.
    var seeOther: NetworkResponse?
    /// The request of the call, which knows the secrets of the call.
    var request: NetworkRequest?

    /// Returns the text of an error, without the secrets of the call.
    func text(of error: any Error) -> String {
      // A behavior of the user's can make an error that repeats what it was given, and that knows no request.
      let redactor = request.map { Redactor.standard.hiding(secretsOf: $0) } ?? .standard
      return redactor.redact(text: "\(error)")
    }
  }

  /// The responses so far, of which all but the last were redirects.
  struct Hops: Sendable {
    var last: NetworkResponse?
    /// The first 303.
    var seeOther: NetworkResponse?
    /// The 303 that was followed within its origin.
    var done: NetworkResponse?
    /// Whether a 303 has come.
    var isDone: Bool { seeOther != nil }
  }

  private struct State {
    var ending = Ending()
    var hops = Hops()
    var isOver = false
  }

  /// The owner that the call must have, apart from those of ``own``.
  private let scope: String?
  /// The behaviors that the request lists itself.
  private let own: [Pipeline.Entry]
  /// Whether no user of the entry has left since the claim.
  private let areUsersPresent: @Sendable () -> Bool
  let method: RequestMethod
  private let state = Locked(State())

  init(
    scope: String?, own: [Pipeline.Entry], method: RequestMethod, areUsersPresent: @escaping @Sendable () -> Bool
  ) {
    self.scope = scope
    self.own = own
    self.method = method
    self.areUsersPresent = areUsersPresent
  }

  /// Returns whether the owner of the call is the one that it must have, and has not left since the claim.
  func permits(_ request: NetworkRequest) async -> Bool {
    guard areUsersPresent() else { return false }
    guard !own.isEmpty else { return OutboxScopes.key(request.call.scopes) == scope }
    var scopes = OutboxScopes.scopes(of: scope)
    for entry in own where entry.credential?.applies(to: request) != false {
      if let scope = await entry.behavior.scope(for: request) { scopes.append(scope) }
    }
    return OutboxScopes.key(request.call.scopes) == OutboxScopes.key(scopes)
  }

  /// Keeps the outcome of the call.
  func note(_ result: Result<NetworkResponse, any Error>, of request: NetworkRequest) {
    let wasSent = !request.call.attempts.isEmpty
    state.withLock { state in
      if !state.isOver { state.ending = Ending(result: result, wasSent: wasSent, request: request) }
    }
  }

  /// Returns the end of the call, and forgets the responses: they have the pass among their options.
  func end() -> Ending {
    state.withLock { state in
      state.isOver = true
      defer { (state.ending, state.hops) = (Ending(), Hops()) }
      var ending = state.ending
      (ending.done, ending.seeOther) = (state.hops.done, state.hops.seeOther)
      return ending
    }
  }

  var hops: Hops { state.withLock { $0.hops } }

  /// Notes that a request follows a response.
  ///
  /// A 303 to another origin may lead to a sign-in, and proves nothing.
  func note(_ request: NetworkRequest, following response: NetworkResponse) {
    guard response.statusCode == 303, request.origin == response.request.origin else { return }
    state.withLock { if !$0.isOver { $0.hops.done = response } }
  }

  /// Keeps a response that may be a redirect.
  func note(hop response: NetworkResponse) {
    state.withLock { state in
      guard !state.isOver else { return }
      state.hops.last = response
      if response.statusCode == 303, !state.hops.isDone { state.hops.seeOther = response }
    }
  }
}
