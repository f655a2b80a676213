/// The origins that may receive a secret.
public enum OriginScope: Hashable, Sendable {
  /// The origin of the configuration's base URL only.
  case baseURL
  /// The listed origins only.
  case only(Set<Origin>)
  /// Every origin.
  ///
  /// The value is hidden from logs and errors but may be sent anywhere.
  case any

  /// Returns whether a secret for these origins may go to an origin.
  ///
  /// - Parameters:
  ///   - origin: The origin of the request.
  ///   - base: The origin of the configuration's base URL; `nil` if there is no base URL.
  /// - Returns: `false` also for ``baseURL`` if there is no base.
  public func includes(_ origin: Origin, base: Origin?) -> Bool {
    switch self {
    case .baseURL: origin == base
    case .only(let origins): origins.contains(origin)
    case .any: true
    }
  }

  /// The origins as text, for errors.
  func names(base: Origin?) -> String {
    switch self {
    case .baseURL: base?.description ?? "a base URL, of which the client has none"
    case .only(let origins): origins.map(\.description).sorted().joined(separator: ", ")
    case .any: "every origin"
    }
  }
}
