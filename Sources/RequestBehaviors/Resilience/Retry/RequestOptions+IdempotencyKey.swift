private enum IdempotencyKeyOption: RequestOption {
  static let defaultValue: IdempotencyKey? = nil
}

extension RequestOptions {
  /// The key that makes a request safe to repeat; `nil`, the default, for none.
  ///
  /// The key is sent whether or not a ``RetryBehavior`` is listed; with one, requests that have a key are repeated. Set
  /// in a configuration's options, ``IdempotencyKey/generated`` gives a key to each POST and PATCH of the client. A
  /// server that does not know the field carries out every attempt.
  public var idempotencyKey: IdempotencyKey? {
    get { self[IdempotencyKeyOption.self] }
    set { self[IdempotencyKeyOption.self] = newValue }
  }
}

extension Pipeline {
  /// Whether a behavior gives requests their idempotency keys.
  var hasBehaviorThatSetsIdempotencyKeys: Bool { behavior(RetryBehavior.self) != nil }
}
