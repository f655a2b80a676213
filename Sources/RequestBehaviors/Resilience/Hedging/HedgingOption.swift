enum HedgingOption: RequestOption {
  static let defaultValue: HedgingPolicy? = nil
  static let isPortable = true

  static func warning(for value: HedgingPolicy?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : warning("hedging", isObeyedBy: HedgingBehavior.self, in: pipeline)
  }
}

private enum HedgeOption: RequestOption {
  static let defaultValue = false
  static let affectsResponse = false
  static let isPortable = true
}

extension RequestOptions {
  /// Whether the request is the second send of a request that may still take effect.
  var isHedge: Bool {
    get { self[HedgeOption.self] }
    set { self[HedgeOption.self] = newValue }
  }
}

extension NetworkRequest {
  /// Throws if this is the second send of a request, and the server could not tell it from another request.
  ///
  /// A redirect, or a behavior of the user's, may have removed the key or changed the method since it was hedged.
  func verifyHedge() throws {
    guard options.isHedge, !method.isIdempotent, !hasIdempotencyKey else { return }
    throw NetworkError(
      .invalidRequest, "a second send of \(method) must have an idempotency key, and this one lost its key",
      request: self)
  }
}
