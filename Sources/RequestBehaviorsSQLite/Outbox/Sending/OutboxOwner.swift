import RequestBehaviors

/// An owner of entries, as the file keeps it, with the sessions in which its user was signed in.
struct OutboxOwner: Sendable {
  /// The scopes of a call in one text, as ``OutboxScopes/key(_:)`` makes it.
  let scope: String
  /// The sessions of the scopes, as ``sessions(of:_:)`` makes them; `nil` for an entry of an earlier version.
  let sessions: String?

  /// Returns the sessions of an owner in one text: a line for each scope, which is empty if the scope is of no session.
  ///
  /// - Parameters:
  ///   - scope: The scopes of the owner; `nil` for entries without one.
  ///   - members: The owners of calls when the entry is enqueued.
  /// - Returns: The text; `nil` for entries without an owner.
  static func sessions(of scope: String?, _ members: [ClientOwners.Member]) -> String? {
    guard let scope else { return nil }
    return EscapedLines.outbox.join(
      OutboxScopes.scopes(of: scope).map { scope in
        members.first { $0.isOfSession && $0.scope == scope }?.credential.map { "=" + $0 } ?? ""
      })
  }

  /// Returns whether a user of the owner has left: another one is signed in to the session, or the session is signed
  /// out.
  ///
  /// A session that the client does not list says nothing, nor does one whose user is not known yet or may still sign
  /// in again after a launch.
  ///
  /// - Parameter members: The owners of calls that begin now.
  /// - Returns: Whether one has left.
  func hasLeft(_ members: [ClientOwners.Member]) -> Bool {
    places(members).contains { scope, member in
      guard let member, member.isKnown, member.isSettled else { return false }
      return member.scope.map { $0 != scope } ?? true
    }
  }

  /// Returns whether the owner is of sessions, all of which the client lists.
  func isListed(_ members: [ClientOwners.Member]) -> Bool {
    let places = places(members)
    return !places.isEmpty && places.allSatisfy { $0.member != nil }
  }

  /// Returns the scopes of sessions, each with the session's member of the client, if there is exactly one.
  private func places(_ members: [ClientOwners.Member]) -> [(scope: String, member: ClientOwners.Member?)] {
    guard let sessions else { return [] }
    return zip(OutboxScopes.scopes(of: scope), EscapedLines.outbox.split(sessions)).compactMap { scope, name in
      guard name.first == "=" else { return nil }
      let found = members.filter { $0.isOfSession && $0.credential == String(name.dropFirst()) }
      return (scope, found.count == 1 ? found[0] : nil)
    }
  }
}
