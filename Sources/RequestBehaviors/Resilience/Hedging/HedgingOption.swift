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
}

extension RequestOptions {
  /// Whether the request is the second send of a request that may still take effect.
  var isHedge: Bool {
    get { self[HedgeOption.self] }
    set { self[HedgeOption.self] = newValue }
  }
}
