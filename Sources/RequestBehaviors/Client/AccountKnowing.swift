/// A behavior that knows at any moment who is signed in.
///
/// A queue that keeps requests for later, such as the outbox of `RequestBehaviorsSQLite`, asks it whose they are. The
/// credential behavior of a session of your own conforms to it.
public protocol AccountKnowing: CredentialBehavior {
  /// The owner of requests that are begun now, as `scope(for:)` returns it; `nil` if no user is signed in.
  var account: String? { get }
  /// Whether ``account`` is certain; by default always true.
  ///
  /// It is not while the store of the session's token has not been read yet: a user may be signed in. A queue takes no
  /// request of the session until it is.
  var isAccountKnown: Bool { get }
  /// Whether a user who was signed in is so after the next launch too; by default false.
  ///
  /// Then another owner, or none, means that the user has left. Without it, nothing tells that at a launch.
  var outlastsLaunches: Bool { get }
  /// A number that changes with each sign-in and sign-out, and not when a server ends the session; by default always 0.
  ///
  /// A queue whose requests could not be sent as the account tries them again when it changes.
  var signInCount: Int { get }

  /// Remembers the client of a call (``Call/scopeEndings``), which hears when the user leaves; does nothing by default.
  ///
  /// A client calls it for a request that does not ask for the credentials, such as a login. The transport keeps the
  /// cookies of the response, and drops them when it hears of the end.
  ///
  /// - Parameter call: The call.
  func noteClient(of call: Call)

  /// Reads again who is signed in, because another process may have changed it; by default there is nothing to read.
  ///
  /// A queue calls it before it removes what a user has left.
  ///
  /// - Parameter clock: Measures how long it may take.
  /// - Returns: Whether it could be read.
  func readAccount(on clock: RequestClock) async -> Bool
}

extension AccountKnowing {
  /// Always true: the session knows its user from the start.
  public var isAccountKnown: Bool { true }

  /// Always false: the user signs in at each launch.
  public var outlastsLaunches: Bool { false }

  /// Always 0: a queue learns of sign-ins by ``account``.
  public var signInCount: Int { 0 }

  /// Does nothing.
  public func noteClient(of call: Call) {}

  /// Returns true at once: no other process signs in or out.
  public func readAccount(on clock: RequestClock) async -> Bool { true }
}
