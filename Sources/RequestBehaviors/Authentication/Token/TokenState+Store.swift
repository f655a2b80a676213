import Foundation

extension TokenState {
  /// The result of reading the store again.
  enum Review: Sendable {
    /// No other process has written to the store.
    case unchanged
    /// Another process refreshed the token.
    case refreshed
    /// Another process signed out.
    case signedOut
    /// Another process signed a user in; `wasEmpty` if calls had no owner here.
    case signedIn(wasEmpty: Bool)
  }

  /// A change of the store: a token, or its removal if that is `nil`.
  struct Change: Sendable {
    let token: AccessToken?
  }

  /// The change that could not be stored; `nil` if the store has it all.
  var unsaved: Change? { isUnsaved ? Change(token: token) : nil }

  /// Takes the token that the first read of the store found, unless the session has a token by now.
  mutating func load(_ found: AccessToken?, now: Duration, date: Date) {
    note(stored: found)
    guard !isLoaded else { return }
    isLoaded = true
    guard let found else {
      if account == nil { emptyGeneration = generation }
      return
    }
    take(identified(found), cameAs: found, now: now, date: date)
  }

  /// Returns a token of the store with the id of its owner.
  ///
  /// A token without an id was not stored by a session, but put there by another program. Its id is made of the token,
  /// so that it is the same in each process and at each start, and a refresh in one process is not another user in the
  /// others.
  private func identified(_ found: AccessToken) -> AccessToken {
    guard found.sessionID == nil, account == nil else { return found }
    var found = found
    found.sessionID = Digest.sha256(of: "token \(found.refreshToken ?? found.value)").base64
    return found
  }

  /// Takes the token that the store holds now, if another process wrote it.
  ///
  /// A token is news if it differs from the session's own and from the one that the store held when it was last used. A
  /// change of the session that waits to be written wins.
  mutating func review(_ found: AccessToken?, now: Duration, date: Date) -> Review {
    guard isLoaded else {
      load(found, now: now, date: date)
      return .unchanged
    }
    if AccessToken.isSame(found, token) { noteSaved() }
    // A session that signed in without reading the store does not know which token was in it before.
    let isNews = isStoreKnown && pendingSaves == 0
    let isKnown =
      AccessToken.isSame(found, stored) || AccessToken.isSame(found, token) || isOfUserWhoLeft(found)
    note(stored: found)
    if isKnown || !isNews { return .unchanged }
    noteSaved()
    // No token means that the other process signed out; the same session id means that it refreshed.
    guard let found else {
      // The token of a service may have been refused there, which does not end its owner.
      if account == nil || token?.sessionID != account { userChanges += 1 }
      signOut()
      return .signedOut
    }
    // An account is the owner before its first token, too.
    if hasOwner, found.sessionID ?? account == token?.sessionID ?? account {
      take(found, cameAs: found, now: now, date: date)
      return .refreshed
    }
    let wasEmpty = !hasOwner
    userChanges += 1
    beginGeneration()
    take(identified(found), cameAs: found, now: now, date: date)
    return .signedIn(wasEmpty: wasEmpty)
  }

  /// Whether a token in the store is a refreshed one of the user who has left here, which could not be written yet.
  ///
  /// The other process does not know of the sign-out, and its refresh must not undo it. A token of another sign-in is
  /// news, even if that was of the same user.
  private func isOfUserWhoLeft(_ found: AccessToken?) -> Bool {
    guard isUnsaved, isUserUnsaved, let signIn = found?.signIn else { return false }
    return signIn == stored?.signIn && signIn != token?.signIn
  }

  /// The content of the store when it was last read or written; `nil` if it never was.
  var knownStored: Change? { isStoreKnown ? Change(token: stored) : nil }

  private mutating func note(stored token: AccessToken?) {
    stored = token
    isStoreKnown = true
  }

  /// Whether changes of the session wait to be written.
  var hasPendingSaves: Bool { pendingSaves > 0 }

  /// Records that a change of the session waits to be written.
  mutating func beginSave() { pendingSaves += 1 }

  /// Records the end of storing a token, or of removing it.
  mutating func endSave(of token: AccessToken?, isPending: Bool, succeeded: Bool) {
    if isPending { pendingSaves -= 1 }
    if succeeded { note(stored: token) }
    // Whether the store is up to date is known only after the last waiting change.
    guard pendingSaves == 0 else { return }
    if succeeded { noteSaved() } else { isUnsaved = true }
  }

  /// Records that the store has the session's last change, or a newer one of another process.
  private mutating func noteSaved() { (isUnsaved, isUserUnsaved) = (false, false) }
}
