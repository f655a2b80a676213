/// The owners that requests to the base URL have, one for each session and each behavior with owners.
package struct ClientOwners: Sendable {
  package struct Member: Sendable, Hashable {
    /// The name of the session's credentials; `nil` for a behavior without credentials.
    package let credential: String?
    /// The owner; `nil` if no user is signed in to the session.
    package let scope: String?
    /// Whether a session knows the owner, which differs after each sign-in unless the session names the account.
    package let isOfSession: Bool
    /// A number that changes with each sign-in and sign-out of the session.
    package var signInCount = 0
    /// Whether the owner is certain: it is not while the store of a session has not been read.
    package var isKnown = true
    /// Whether every other owner of the session has left.
    ///
    /// It is false for a session that keeps its token in memory until a user signs in or out: the user of the last
    /// launch may sign in again.
    package var isSettled = false
  }

  /// The owners, in the order of the list of behaviors.
  package let members: [Member]
  /// The owners of the call that asked, which tell whether one of them has left since.
  package let owner: CallOwner

  /// Whether the same account has the same owner after each sign-in.
  package static func isLasting(_ scope: String) -> Bool { SessionAccount.isID(scope) }
}

extension ClientOwners.Member {
  /// Creates the member of a session, as it is now.
  init(_ session: any AccountKnowing) {
    // Asked first: an owner that is asked for before it is known may be another one after that, and a user who signs in
    // meanwhile must not look like one who has left.
    let (isKnown, signInCount) = (session.isAccountKnown, session.signInCount)
    self.init(
      credential: session.credential, scope: session.account, isOfSession: true, signInCount: signInCount,
      isKnown: isKnown, isSettled: session.outlastsLaunches || signInCount > 0)
  }

  /// Creates the member of a behavior without a session.
  init(_ entry: Pipeline.Entry, _ scope: String) {
    self.init(credential: entry.credential?.credential, scope: scope, isOfSession: false)
  }
}
