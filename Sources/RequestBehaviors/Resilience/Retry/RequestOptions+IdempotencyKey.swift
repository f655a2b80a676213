private enum IdempotencyKeyOption: RequestOption {
  static let defaultValue: IdempotencyKey? = nil

  static func warning(for value: IdempotencyKey?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : warning("idempotencyKey", isObeyedBy: RetryBehavior.self, in: pipeline)
  }
}

extension RequestOptions {
  /// The key that makes a request safe to repeat; `nil`, the default, for none.
  ///
  /// It takes effect if a ``RetryBehavior`` is listed. Set in a configuration's options, ``IdempotencyKey/generated``
  /// gives a key to each POST and PATCH of the client. A server that does not know the field carries out every attempt.
  public var idempotencyKey: IdempotencyKey? {
    get { self[IdempotencyKeyOption.self] }
    set { self[IdempotencyKeyOption.self] = newValue }
  }
}
