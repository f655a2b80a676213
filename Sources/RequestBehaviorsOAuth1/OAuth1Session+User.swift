import RequestBehaviors

/// The user of each session that a call belongs to.
private enum OAuth1Users: CallKey {
  static let defaultValue: [ObjectIdentifier: OAuth1Session.Owner] = [:]
}

// A call keeps the user that it began with: its response is stored as that user's, so it must not be sent as another's.
extension OAuth1Session {
  /// The user that a call belongs to.
  struct Owner: Sendable {
    let number: Int
    let scope: String
  }

  /// Records the signed-in user as the owner of a call, unless it has one; returns its owner, if any.
  @discardableResult
  func note(_ call: Call) -> Owner? { note(signedIn, for: call) }

  private func note(_ user: SignedIn?, for call: Call) -> Owner? {
    let id = ObjectIdentifier(self)
    guard let user else { return call[OAuth1Users.self][id] }
    let (owner, isFirst) = call.update(OAuth1Users.self) { users in
      if let owner = users[id] { return (owner, false) }
      let owner = Owner(number: user.number, scope: user.scope)
      users[id] = owner
      return (owner, true)
    }
    if isFirst { call.update(SignInNumbers.self) { $0[id] = user.number } }
    return owner
  }

  /// Returns the user that the call belongs to, and checks the user again before every later send.
  ///
  /// If no user was signed in when the call began, it belongs to the user who is signed in when it is first signed. The
  /// session is asked once, so that the call is signed as the user whose sign-out it then hears of.
  ///
  /// - Returns: The user; `nil` if no user is signed in.
  /// - Throws: `NetworkError` of code `NetworkError.Code.signedOut` if that user is not signed in any
  ///   more.
  func claim(_ call: Call) throws -> SignedIn? {
    let user = signedIn
    guard let owner = note(user, for: call) else { return nil }
    guard let user, user.number == owner.number else { throw NetworkError.signedOut() }
    call.addSendCheck(of: self, handOvers: handOvers) { [self] request in
      if let origin = request.origin, origins.includes(origin, base: request.call.baseOrigin) { try check(user) }
    }
    return user
  }

  /// Throws unless this user is still signed in.
  func check(_ user: SignedIn) throws {
    if signedIn?.number != user.number { throw NetworkError.signedOut() }
  }
}
