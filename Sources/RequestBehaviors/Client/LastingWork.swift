/// Work that shutting a client down lets finish once it has begun, such as a request that spends a refresh token.
///
/// Its requests are those of ``NetworkClient/with(_:_:)``. Call ``begin()`` right before the first of them is sent.
public final class LastingWork: Sendable {
  /// The work as its client sees it.
  struct Entry {
    let lifetime: ClientLifetime
    let limit: Duration
    var hasBegun = false
  }

  /// The lifetime of the work's own calls, which end with the client only before the work has begun.
  let lifetime: ClientLifetime
  private let client: ClientLifetime
  private let id: UInt64

  /// Creates work that has not begun.
  ///
  /// - Parameters:
  ///   - client: The client whose transport the work needs.
  ///   - limit: The longest time for which shutting the client down waits for the work.
  public init(of client: NetworkClient, limit: Duration) {
    // Work of lasting work is the client's too, because it needs the client's transport.
    self.client = client.lifetime.root
    self.lifetime = ClientLifetime(lastingWorkOf: self.client)
    id = self.client.add(Entry(lifetime: self.lifetime, limit: limit))
  }

  /// Records that the work must not be interrupted from now on; a second call does nothing.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``.
  public func begin() throws {
    if !client.beginLasting(id) { throw NetworkError.clientShutDown() }
  }

  /// Records that the work is done.
  public func end() { client.endLasting(id) }
}
