import Foundation

extension TokenState {
  /// What the store, read again, is for the session.
  enum Review: Sendable {
    /// Nobody else has written it.
    case unchanged
    /// Another process refreshed the token.
    case refreshed
    /// Another process signed out.
    case signedOut
    /// Another process signed somebody in; `wasEmpty` if nobody was.
    case signedIn(wasEmpty: Bool)
  }

  /// A change of what is stored: a token, or its removal if that is `nil`.
  struct Change: Sendable {
    let token: AccessToken?
  }

  /// What could not be stored; `nil` if the store has it all.
  var unsaved: Change? { isUnsaved ? Change(token: token) : nil }

  /// Takes what the store held when it was read first, unless the session has a token by now.
  mutating func load(_ found: AccessToken?, now: Duration, date: Date) {
    note(stored: found)
    guard !isLoaded else { return }
    isLoaded = true
    guard let found else {
      emptyGeneration = generation
      return
    }
    take(found, cameAs: found, now: now, date: date)
  }

  /// Takes what the store holds by now, if it is neither what it held when it was last used nor what the session has.
  ///
  /// A change of the session's own that waits to be written wins.
  mutating func review(_ found: AccessToken?, now: Duration, date: Date) -> Review {
    guard isLoaded else {
      load(found, now: now, date: date)
      return .unchanged
    }
    if AccessToken.isSame(found, token) { isUnsaved = false }
    // What stood there before a session that signed in without reading it is nobody's news.
    let isNews = isStoreKnown && pendingSaves == 0
    let isKnown = AccessToken.isSame(found, stored) || AccessToken.isSame(found, token)
    note(stored: found)
    if isKnown || !isNews { return .unchanged }
    isUnsaved = false
    guard let found else {
      signOut()
      return .signedOut
    }
    if let token, token.sessionID == found.sessionID {
      take(found, cameAs: found, now: now, date: date)
      return .refreshed
    }
    let wasEmpty = !hasToken
    beginGeneration()
    take(found, cameAs: found, now: now, date: date)
    return .signedIn(wasEmpty: wasEmpty)
  }

  /// What the store held when it was last read or written; `nil` if it never was.
  var knownStored: Change? { isStoreKnown ? Change(token: stored) : nil }

  private mutating func note(stored token: AccessToken?) {
    stored = token
    isStoreKnown = true
  }

  /// Notes that a change of the session waits to be written.
  mutating func beginSave() { pendingSaves += 1 }

  /// Notes how the writing of a token, or of its removal, ended.
  mutating func endSave(of token: AccessToken?, isPending: Bool, succeeded: Bool) {
    if isPending { pendingSaves -= 1 }
    if succeeded { note(stored: token) }
    // A change that waits to be written is told of when it has been.
    guard pendingSaves == 0 else { return }
    isUnsaved = !succeeded
  }
}
