// The account of a session, for queues that keep requests with their owners.

extension TokenAuthBehavior: AccountKnowing {
  /// The owner of requests that are begun now; `nil` if no user is signed in.
  ///
  /// A session whose source has an account (``TokenSource/account``) needs no user, and has an owner from the start.
  public var account: String? {
    session.coordinator.update { state, _ in state.user == nil ? nil : state.scope }
  }

  /// Whether the store of the token has been read, or a user has signed in or out since the launch.
  ///
  /// A session whose source has an account (``TokenSource/account``) has a known owner from the start.
  public var isAccountKnown: Bool {
    session.coordinator.update { state, _ in state.isLoaded || state.account != nil }
  }

  /// Whether the store of the token outlasts the process, so that a user need not sign in again at each launch.
  public var outlastsLaunches: Bool { !(session.coordinator.store is InMemoryTokenStore) }

  /// A number that changes with each sign-in and sign-out, in any process, and not when a server ends the session.
  public var signInCount: Int {
    session.coordinator.update { state, _ in state.userChanges }
  }

  /// Remembers the client of a call, which hears when the user leaves.
  public func noteClient(of call: Call) { session.coordinator.scopes.follow(call) }

  /// Reads the store of the token again, for no longer than the time that a refresh may take.
  ///
  /// - Parameter clock: Measures how long it takes.
  /// - Returns: Whether it could be read.
  public func readAccount(on clock: RequestClock) async -> Bool { await session.coordinator.readAgain(on: clock) }
}
