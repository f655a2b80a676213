import RequestBehaviors

/// The owners of entries, as the file keeps them: the scopes of a call in one text.
enum OutboxScopes {
  /// Returns the owner of a call with these scopes; nil if it has none.
  static func key(_ scopes: [String]) -> String? {
    scopes.isEmpty ? nil : EscapedLines.outbox.join(Set(scopes).sorted())
  }

  /// Returns the scopes of an owner; none for nil.
  static func scopes(of key: String?) -> [String] { key.map(EscapedLines.outbox.split) ?? [] }

  /// Returns whether the scope is one of those of an owner.
  static func contains(_ scope: String, in key: String?) -> Bool { scopes(of: key).contains(scope) }

  /// Returns the owner of requests that are enqueued now.
  ///
  /// - Parameters:
  ///   - members: The owners of calls.
  ///   - requirement: The credentials of the request.
  /// - Returns: The owner; nil for requests without one.
  /// - Throws: `NetworkError` of code `notSignedIn` if a session that the request needs has no user, and of code
  ///   `tokenStoreFailed` if it is not known whether a session that the request can use has one.
  static func key(of members: [ClientOwners.Member], for requirement: AuthenticationRequirement) throws -> String? {
    let wanted = members.filter { $0.credential == nil || requirement.includes($0.credential) }
    // An optional request, too: it would become a guest's.
    guard wanted.allSatisfy(\.isKnown) else {
      throw NetworkError(
        .tokenStoreFailed,
        "the token store of a session could not be read yet, so that the user is not known; enqueue the request again "
          + "when it can be read")
    }
    guard wanted.contains(where: { $0.scope == nil }) else { return key(wanted.compactMap(\.scope)) }
    guard requirement.isOptional else {
      throw NetworkError.notSignedIn(
        "the request belongs to a user, and no user is signed in; call signIn(_:as:) on the session first, or enqueue "
          + "it with authentication .none or .optional")
    }
    return guest(members)
  }

  /// Returns the owner that the call of an entry must have, apart from the behaviors that its request lists itself.
  ///
  /// An operation whose request could not be made yet was enqueued with all credentials of its user. Of these the
  /// request may use some, or none; it never uses another user's.
  ///
  /// - Parameters:
  ///   - stored: The owner of the entry.
  ///   - members: The owners of calls.
  ///   - requirement: The credentials of the request.
  /// - Returns: The owner.
  static func expected(
    of stored: String?, _ members: [ClientOwners.Member], for requirement: AuthenticationRequirement
  ) -> String? {
    do {
      let now = try key(of: members, for: requirement)
      return Set(scopes(of: now)).isSubset(of: scopes(of: stored)) ? now : stored
    } catch {
      // A user whom the request needs has left, or is not known.
      return stored
    }
  }

  /// Returns the owner of requests without credentials.
  static func anonymous(_ members: [ClientOwners.Member]) -> String? {
    key(members.filter { $0.credential == nil }.compactMap(\.scope))
  }

  /// Returns the owner of optional requests while a session has no user: of all credentials but those of sessions.
  static func guest(_ members: [ClientOwners.Member]) -> String? {
    key(members.filter { !$0.isOfSession }.compactMap(\.scope))
  }

  /// Returns the names of the credentials that an optional request does not have, because no user was signed in when
  /// it was enqueued; nil for that of a user.
  ///
  /// The credentials of the app, which have no owner, are never among them.
  static func withheld(from stored: String?, _ members: [ClientOwners.Member]) -> Set<String>? {
    guard stored == guest(members) || stored == anonymous(members) else { return nil }
    let foreign = members.filter { $0.scope.map { !contains($0, in: stored) } ?? true }
    return Set(foreign.compactMap(\.credential))
  }

  /// Returns the owners whose entries can be sent now; those that are not known are left out.
  static func present(_ members: [ClientOwners.Member]) -> Set<String?> {
    var keys: Set<String?> = [anonymous(members), guest(members)]
    if let all = try? key(of: members, for: .required) { keys.insert(all) }
    for case let credential? in Set(members.map(\.credential)) {
      if let one = try? key(of: members, for: .only(credential)) { keys.insert(one) }
    }
    return keys
  }
}
