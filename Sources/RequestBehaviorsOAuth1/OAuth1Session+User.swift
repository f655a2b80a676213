import RequestBehaviors

/// The user of each session that a call belongs to.
private enum OAuth1Users: CallKey {
  static let defaultValue: [ObjectIdentifier: Int] = [:]
}

// A call keeps the user that it began with: its response is stored as that user's, so it must not be sent as another's.
extension OAuth1Session {
  /// Records the signed-in user when a call begins, if any.
  func note(_ call: Call) {
    guard let user else { return }
    let id = ObjectIdentifier(self)
    let isFirst = call.update(OAuth1Users.self) { users in
      if users[id] != nil { return false }
      users[id] = user
      return true
    }
    if isFirst { call.update(SignInNumbers.self) { $0[id] = user } }
  }

  /// Returns the user that the call belongs to, and checks the user again before every later send.
  ///
  /// If no user was signed in when the call began, it belongs to the user who is signed in when it is first signed.
  ///
  /// - Throws: `NetworkError` of code `NetworkError.Code.signedOut` if that user is not signed in any
  ///   more.
  func claim(_ call: Call) throws -> Int? {
    note(call)
    guard let user = call[OAuth1Users.self][ObjectIdentifier(self)] else { return nil }
    try check(user)
    call.addSendCheck(of: self, handOvers: handOvers) { [self] request in
      if let origin = request.origin, origins.includes(origin, base: request.call.baseOrigin) { try check(user) }
    }
    return user
  }

  /// Throws unless this user is still signed in.
  func check(_ user: Int?) throws {
    guard let user, self.user != user else { return }
    throw NetworkError.signedOut()
  }
}
