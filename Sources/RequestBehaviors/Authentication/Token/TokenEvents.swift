/// The events of a session, beginning when this sequence was made.
///
/// ```swift
/// for await event in session.events {
///   if case .signedOut = event { await showSignIn() }
/// }
/// ```
///
/// Every ``TokenSession/events`` is a separate subscriber; iterate it once. A subscriber that does not read keeps the
/// latest 64 events, and loses older ones. The sequence ends when its task is cancelled, or when no session over the
/// store is left.
///
/// Events come in the order of the changes that they tell of. Each is there before the requests that wait for a token
/// learn of its change.
public struct TokenEvents: AsyncSequence, Sendable {
  /// The type of an event.
  public typealias Element = TokenEvent

  private let stream: AsyncStream<TokenEvent>

  init(_ stream: AsyncStream<TokenEvent>) { self.stream = stream }

  /// Creates the iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

  /// Delivers the events.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: AsyncStream<TokenEvent>

    /// Returns the next event; `nil` at the end.
    public mutating func next() async -> TokenEvent? {
      // The iterator of a stream is not Sendable and cannot be stored here. A new one continues where the last one
      // stopped.
      var iterator = stream.makeAsyncIterator()
      return await iterator.next()
    }
  }
}

/// An event of a session.
public enum TokenEvent: Sendable {
  /// The reason why a session was signed out.
  public enum SignOutReason: Sendable {
    /// ``TokenSession/signOut()`` was called.
    case requested
    /// The server refused: the token endpoint with this error, or the API refused a token that it had just given.
    case refused(any Error)
    /// Another process that shares the store signed out.
    case elsewhere
  }

  /// The user signed in, here or in another process that shares the store.
  case signedIn
  /// The session got a first or a newer token, here or in another process that shares the store.
  case refreshed
  /// Getting a token failed for now; the session keeps the token that it has.
  case refreshFailed(any Error)
  /// The session was signed out.
  case signedOut(SignOutReason)
  /// A change could not be stored.
  ///
  /// The session keeps it in memory, and tries again to store it.
  case storeFailed(any Error)
}
