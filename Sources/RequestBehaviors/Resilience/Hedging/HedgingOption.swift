enum HedgingOption: RequestOption {
  static let defaultValue: HedgingPolicy? = nil
  static let isPortable = true

  static func warning(for value: HedgingPolicy?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : warning("hedging", isObeyedBy: HedgingBehavior.self, in: pipeline)
  }
}
