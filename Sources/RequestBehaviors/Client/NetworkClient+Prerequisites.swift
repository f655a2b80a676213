extension NetworkClient {
  /// A client for requests that come before those of this one, such as the steps of a sign-in.
  ///
  /// It sends over the same transport, and keeps the behaviors for observation, headers, deadlines, resilience,
  /// redirects, verification and the wire. It has no authentication, signing, caching, coalescing or persistence, and
  /// no behaviors of the places where a caller may hold something. ``Next/client(omitting:)`` is the same within a
  /// behavior.
  ///
  /// ```swift
  /// let keys: KeySet = try await client.prerequisites.send(
  ///   .get(url: keysURL))
  /// ```
  ///
  /// A client whose configuration is wrong is returned as it is, and throws at every send.
  public var prerequisites: NetworkClient {
    guard let chain = try? chain.get() else { return self }
    return NetworkClient(
      configuration: chain.prerequisiteConfiguration(), transport: transport, parent: nil, lifetime: lifetime)
  }

  /// Waits on the client's clock, as a flow of several requests does between them.
  ///
  /// - Parameter duration: The length of the wait.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown`` as soon as the client is shut
  ///   down; `CancellationError` as soon as the task is cancelled.
  package func wait(for duration: Duration) async throws {
    let clock = configuration.clock
    try await lifetime.run { try await clock.sleep(for: duration) }
  }
}
