private enum SentOnceOption: RequestOption {
  static let defaultValue = false
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether a request that may have arrived is not sent again, whatever policies and deciders say; `false` by default.
  ///
  /// It is for requests with a secret that the server takes once: a second one ends a sign-in (RFC 9700 §4.14.2).
  package var isSentOnce: Bool {
    get { self[SentOnceOption.self] }
    set { self[SentOnceOption.self] = newValue }
  }
}
