import Foundation

/// The events of a session, from when it was asked for.
///
/// ```swift
/// for await event in session.events {
///   if case .signedOut = event { await showSignIn() }
/// }
/// ```
///
/// Every ``TokenSession/events`` is a subscriber of its own that gets all events; iterate it once. It ends when its
/// task is cancelled, or when no session over the store is left.
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
      // A stream's own iterator is not Sendable and cannot be kept here; each takes up where the last one left off.
      var iterator = stream.makeAsyncIterator()
      return await iterator.next()
    }
  }
}

/// Hands events to every subscriber.
final class TokenBroadcast: Sendable {
  private let lock = NSLock()
  // Both protected by `lock`.
  nonisolated(unsafe) private var subscribers: [Int: AsyncStream<TokenEvent>.Continuation] = [:]
  nonisolated(unsafe) private var lastID = 0

  func subscribe() -> TokenEvents {
    let (stream, continuation) = AsyncStream.makeStream(of: TokenEvent.self)
    let id = lock.withLock {
      lastID += 1
      subscribers[lastID] = continuation
      return lastID
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return TokenEvents(stream)
  }

  /// How many subscribers there are.
  var subscriberCount: Int { lock.withLock { subscribers.count } }

  func publish(_ event: TokenEvent) {
    // In the order in which they came.
    let subscribers = lock.withLock { self.subscribers.sorted { $0.key < $1.key } }
    for (_, subscriber) in subscribers { subscriber.yield(event) }
  }

  private func remove(_ id: Int) { lock.withLock { subscribers[id] = nil } }

  deinit { for subscriber in subscribers.values { subscriber.finish() } }
}

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
