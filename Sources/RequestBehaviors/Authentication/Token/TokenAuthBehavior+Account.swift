// The account of a session, for queues that keep requests with their owners.

extension TokenAuthBehavior: AccountKnowing {
  /// The owner of requests that are begun now; `nil` if no user is signed in.
  public var account: String? {
    let user = session.coordinator.user
    return user.generation == nil ? nil : user.scope
  }
}
