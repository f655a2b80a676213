/// What happened to a session.
public enum TokenEvent: Sendable {
  /// Why a session was signed out.
  public enum SignOutReason: Sendable {
    /// ``TokenSession/signOut()`` was called.
    case requested
    /// The server refused: the token endpoint by this error, or the API a token that had just been got.
    case refused(any Error)
    /// Another process that shares the store signed out.
    case elsewhere
  }

  /// The user brought a token, here or in another process that shares the store.
  case signedIn
  /// A token was got, here or in another process that shares the store: a first or a newer one.
  case refreshed
  /// A token could not be got for now; the session keeps what it has.
  case refreshFailed(any Error)
  /// The token is gone.
  case signedOut(SignOutReason)
  /// A change could not be stored: it holds for as long as the session is in use, and storing it is tried again.
  case storeFailed(any Error)
}
