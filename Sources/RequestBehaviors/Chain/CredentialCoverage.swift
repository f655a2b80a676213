import Foundation

// The owner of a response, as far as a behavior that stores or shares it can tell.
//
// Such a behavior knows the owners of the call, and the fields that the request has at its own place. A secret that is
// added further in is in neither, unless the behavior that adds it returned an owner. So the list records which
// behaviors add secrets.

extension Next {
  /// Returns whether the owners of the call, and the fields that the request had here, tell the owner of a response.
  ///
  /// If not, the response is for the caller alone: it must be neither stored nor shared. There are three such cases: a
  /// behavior further in added a secret and returned no owner (``RequestBehavior/scope(for:)``); the transport added a
  /// secret, such as a cookie; a send was made for another user than the call was begun for (``Call/noteSend(for:)``).
  ///
  /// A secret is a header field that is marked sensitive or named like a credential, or an item of the query that is
  /// named like one. A value that was passed to ``Call/addSecret(_:)`` is a secret too if the URL contains it.
  ///
  /// - Parameter response: The response that ``callAsFunction(_:)`` or the ``DetachedNext`` of this place returned.
  /// - Returns: Whether the owner of the response is known.
  public func knowsOwner(of response: NetworkResponse) -> Bool {
    run.call.isOwnerKnown(at: index) && response.request.call.isOwnerKnown(at: index)
  }
}

extension Next {
  /// Returns whether the transport adds a credential to a request; see ``Transport/addsCredentials(to:)``.
  public func addsCredentials(to request: NetworkRequest) -> Bool { run.chain.transport.addsCredentials(to: request) }
}

extension DetachedNext {
  /// Whether the owners of the call, and the fields that the request had here, tell the owner of the responses.
  ///
  /// See ``Next/knowsOwner(of:)``. It is true before the first send.
  public var knowsOwner: Bool { call.isOwnerKnown(at: index) }

  /// Fails every send of the call from now on, before it leaves, unless ``knowsOwner`` is true then.
  public func requireKnownOwner() {
    let index = index
    call.addSendCheck { request in
      guard request.call.isOwnerKnown(at: index) else { throw OwnerIsUnknown() }
    }
  }

  /// Returns whether a call ended because of ``requireKnownOwner()``.
  ///
  /// - Parameter result: The outcome of the call.
  /// - Returns: Whether a send was refused, because the owner of its response would not have been known.
  public func isRefused(_ result: Result<NetworkResponse, any Error>) -> Bool {
    guard case .failure(let error) = result, !knowsOwner else { return false }
    // A behavior further in may have replaced the error.
    return error is OwnerIsUnknown || call.attemptCount == 0
  }
}

/// A send that was refused because the owner of its response would not be known.
private struct OwnerIsUnknown: Error {}

extension Call {
  /// The behaviors of the list that returned an owner, and those that added secrets without one.
  struct CredentialCoverage: Sendable {
    /// The indices of the behaviors that returned an owner.
    var scoped = ShortList<Int>()
    /// The innermost index at which a secret was added without an owner; -1 if there is no such index.
    var innermostUncovered = -1
  }

  /// Returns whether the behavior at an index of the list returned an owner of the call.
  ///
  /// - Parameter index: The index in ``Next/pipeline``.
  /// - Returns: Whether ``RequestBehavior/scope(for:)`` of that behavior returned a value that counts for the call.
  public func hasOwner(from index: Int) -> Bool { withState { $0.coverage.scoped.contains(index) } }

  fileprivate func isOwnerKnown(at index: Int) -> Bool {
    keepsScopes && withState { $0.coverage.innermostUncovered <= index }
  }

  /// Records that a behavior, or the transport, adds a secret.
  fileprivate func noteSecret(addedAt index: Int) {
    withState { state in
      guard !state.coverage.scoped.contains(index) else { return }
      state.coverage.innermostUncovered = max(state.coverage.innermostUncovered, index)
    }
  }

  /// Takes over the owners of another call's sends, and records here if the owner of its responses is not known.
  func adoptOwner(of other: Call) {
    guard other !== self else { return }
    // Of a user who signed in after the calls had begun: what is kept of the response is dropped at that sign-out.
    for scope in other.owner.laterScopes { noteSend(for: scope) }
    if !other.keepsUser { leaveScopes() }
    if other.owner.isAnonymous { becomeAnonymous() }
    // The other call began at the place where this one asked it, so every secret of it was added further in.
    if other.withState({ $0.coverage.innermostUncovered >= 0 }) { noteSecret(addedAt: Int.max) }
  }
}

extension ChainRun {
  /// Records whether a behavior added secrets to a request.
  ///
  /// - Parameters:
  ///   - request: The request as the behavior passes it on.
  ///   - original: The request as the behavior got it.
  ///   - index: The behavior's index.
  func noteSecrets(addedTo request: NetworkRequest, since original: NetworkRequest, at index: Int) {
    let isNew = request.headers.hasSecrets(missingIn: original.headers) || addsSecretToURL(request, original, index)
    if isNew, !chain.pipeline.entries[index].isProof { call.noteSecret(addedAt: index) }
  }

  /// Records whether the transport adds secrets to a request.
  func noteSecrets(addedByTransportTo request: NetworkRequest) {
    if chain.transport.addsCredentials(to: request) { call.noteSecret(addedAt: Int.max) }
  }

  private func addsSecretToURL(_ request: NetworkRequest, _ original: NetworkRequest, _ index: Int) -> Bool {
    guard !request.hasSameURL(as: original) else { return false }
    // The server chose the target of the redirect, and every caller that gets the same redirect may follow it.
    if chain.pipeline.entries[index].followsRedirects { return false }
    let known = Set(Redactor.standard.secrets(inQueryOf: original.url))
    if Redactor.standard.secrets(inQueryOf: request.url).contains(where: { !known.contains($0) }) { return true }
    let (text, before) = (request.url.absoluteString, original.url.absoluteString)
    return call.secrets.added.contains { text.contains($0) && !before.contains($0) }
  }
}

extension HeaderFields.Field {
  /// Whether the value is a secret: it is marked as one, or its name means a credential.
  public var isSecret: Bool { isSensitive || isNamedLikeCredential }
}

extension HeaderFields {
  /// Whether there is a secret that another list does not have with the same name and value.
  fileprivate func hasSecrets(missingIn other: HeaderFields) -> Bool {
    // Most behaviors change no field, and most others append some.
    guard !isIdentical(to: other) else { return false }
    func isOld(_ field: Field, _ old: Field) -> Bool {
      old.value == field.value && HeaderFields.areEqual(old.name, field.name)
    }
    return enumerated().contains { index, field in
      if index < other.count, isOld(field, other[index]) { return false }
      return field.isSecret && !other.contains { isOld(field, $0) }
    }
  }
}

extension NetworkError {
  /// Returns the error for a request that requires credentials which are not for its origin.
  static func credentialsWithheld(
    _ behaviors: [(name: String, origins: OriginScope)], from origin: Origin, _ request: NetworkRequest
  ) -> NetworkError {
    let scopes = behaviors.map { "\($0.name) is for \($0.origins.names(base: request.call.baseOrigin))" }
    return NetworkError(
      .credentialsWithheld,
      "the request requires credentials and goes to \(origin), which none of them are for: "
        + scopes.joined(separator: ", ") + "; list \(origin) in the origins of the behavior, or send the request with "
        + "authentication .optional or .none", request: request)
  }
}
