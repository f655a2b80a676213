private enum SignsWithOAuth1: RequestOption {
  static let defaultValue = true
  // A request that shall not be signed is not signed after a redirect either.
  static let isPortable = true
}

extension RequestOptions {
  /// Whether ``OAuth1Behavior`` signs the request; by default it does.
  ///
  /// ```swift
  /// let status: Status = try await client.send(.get("status").with(\.signsWithOAuth1, false))
  /// ```
  public var signsWithOAuth1: Bool {
    get { self[SignsWithOAuth1.self] }
    set { self[SignsWithOAuth1.self] = newValue }
  }
}
