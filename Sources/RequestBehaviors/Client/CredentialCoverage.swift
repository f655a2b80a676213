import Foundation

// Whose a response is, as far as a behavior that keeps or shares it can tell.
//
// Such a behavior knows the scopes of the call, and the fields that the request has at its own place. A secret that is
// added further in is in neither, unless the behavior that adds it gave a scope. So the list notes who adds secrets.

extension Next {
  /// Whether the scopes of the call, and the fields that the request had here, tell whose a response is.
  ///
  /// If not, the response is for the caller alone: it must be neither kept nor shared. That is so where a behavior
  /// further in added a secret without giving a scope (``RequestBehavior/scope(for:)``), where the transport added one,
  /// such as a cookie, and where a send went for another user than the call was begun for (``Call/noteSend(for:)``).
  /// A secret is a header field that is marked sensitive or named like a credential, an item of the query that is named
  /// like one, and what was passed to ``Call/addSecret(_:)`` if the URL has it.
  ///
  /// - Parameter response: What ``callAsFunction(_:)`` returned, or ``DetachedNext`` of this place.
  /// - Returns: Whether it is known whose the response is.
  public func knowsOwner(of response: NetworkResponse) -> Bool {
    run.call.isOwnerKnown(at: index) && response.request.call.isOwnerKnown(at: index)
  }
}

extension Next {
  /// Returns whether the transport adds a credential to a request; see ``Transport/addsCredentials(to:)``.
  public func addsCredentials(to request: NetworkRequest) -> Bool { run.chain.transport.addsCredentials(to: request) }
}

extension DetachedNext {
  /// Whether the scopes of the call, and the fields that the request had here, tell whose the responses are.
  ///
  /// See ``Next/knowsOwner(of:)``. It is true before anything was sent.
  public var knowsOwner: Bool { call.isOwnerKnown(at: index) }

  /// Fails what the call sends from now on, before it leaves, unless ``knowsOwner`` is true then.
  public func requireKnownOwner() {
    let index = index
    call.addSendCheck { request in
      guard request.call.isOwnerKnown(at: index) else { throw OwnerIsUnknown() }
    }
  }

  /// Returns whether a call ended because of ``requireKnownOwner()``.
  ///
  /// - Parameter result: How the call ended.
  /// - Returns: Whether a send was refused, because the owner of its response would not have been known.
  public func isRefused(_ result: Result<NetworkResponse, any Error>) -> Bool {
    guard case .failure(let error) = result, !knowsOwner else { return false }
    // A behavior further in may have made another error of it.
    return error is OwnerIsUnknown || call.attemptCount == 0
  }
}

/// A send that was refused because nobody would know whose the response is.
private struct OwnerIsUnknown: Error {}

extension Call {
  /// Which behaviors of the list gave a scope, and which added secrets without one.
  struct CredentialCoverage: Sendable {
    /// The places of the behaviors that gave a scope.
    var scoped: [Int] = []
    /// The innermost place at which a secret was added without a scope; -1 if none was.
    var innermostUncovered = -1
  }

  fileprivate func isOwnerKnown(at index: Int) -> Bool {
    keepsScopes && withState { $0.coverage.innermostUncovered <= index }
  }

  /// Notes that a behavior, or the transport, adds a secret.
  fileprivate func noteSecret(addedAt index: Int) {
    withState { state in
      guard !state.coverage.scoped.contains(index) else { return }
      state.coverage.innermostUncovered = max(state.coverage.innermostUncovered, index)
    }
  }

  /// Takes over that nobody knows whose the responses of another call are.
  func adoptOwner(of other: Call) {
    guard other !== self else { return }
    if !other.keepsScopes { leaveScopes() }
    // The other call began at a place where this one asked it, so what was added to it was added further in.
    if other.withState({ $0.coverage.innermostUncovered >= 0 }) { noteSecret(addedAt: Int.max) }
  }
}

extension ChainRun {
  /// Notes whether a behavior added secrets to a request.
  ///
  /// - Parameters:
  ///   - request: The request as the behavior passes it on.
  ///   - original: The request as the behavior got it.
  ///   - index: The behavior's place.
  func noteSecrets(addedTo request: NetworkRequest, since original: NetworkRequest, at index: Int) {
    let isNew = request.headers.hasSecrets(missingIn: original.headers) || addsSecretToURL(request, original, index)
    if isNew { call.noteSecret(addedAt: index) }
  }

  /// Notes whether the transport adds secrets to a request.
  func noteSecrets(addedByTransportTo request: NetworkRequest) {
    if chain.transport.addsCredentials(to: request) { call.noteSecret(addedAt: Int.max) }
  }

  private func addsSecretToURL(_ request: NetworkRequest, _ original: NetworkRequest, _ index: Int) -> Bool {
    guard !request.hasSameURL(as: original) else { return false }
    // Where a redirect leads is the server's word. Whoever gets the same redirect may go there too.
    if chain.pipeline.entries[index].behavior is RedirectsBehavior { return false }
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
  /// Whether there is a secret that another list does not have under the same name with the same value.
  fileprivate func hasSecrets(missingIn other: HeaderFields) -> Bool {
    // Most behaviors change no field, and most of those that do add some at the end.
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
