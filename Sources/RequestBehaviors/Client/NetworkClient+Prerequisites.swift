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
      configuration: chain.prerequisiteConfiguration(), transport: transport, parent: nil, waits: waits)
  }
}
