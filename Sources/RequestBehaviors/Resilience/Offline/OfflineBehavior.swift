/// Refuses or holds requests while the device is offline, instead of letting each one fail.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.offline(.system())])
/// ```
///
/// A request fails at once with ``NetworkError/Code-swift.struct/offline``, or waits until there is a network
/// (``OfflineRule``). The system's report is a guess. ``RequestOptions/bypassesGate`` sends a request in spite of it.
public struct OfflineBehavior: UniqueBehavior {
  /// Before the first attempt.
  public let order = BehaviorOrder.gate

  let connectivity: Connectivity
  let rule: OfflineRule

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - connectivity: Whether the device is online.
  ///   - rule: What to do while it is not. A request's ``RequestOptions/offlineRule`` overrides it.
  public init(_ connectivity: Connectivity, rule: OfflineRule = .refuse) {
    self.connectivity = connectivity
    self.rule = rule
  }

  /// Sends the request once the device is online, or throws.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    if !request.options.bypassesGate, !connectivity.isOnline {
      switch request.options.explicit(OfflineOption.self) ?? rule {
      case .refuse: throw refusal("the device is offline; send the request again when it is not", request)
      case .wait:
        try await connectivity.gate.pass(request, from: "OfflineBehavior") { reason in
          refusal("the device is offline, and \(reason)", request)
        }
      }
    }
    return try await next(request)
  }

  private func refusal(_ message: String, _ request: NetworkRequest) -> NetworkError {
    request.call.record("refused: offline", from: "OfflineBehavior", kind: .gate)
    return NetworkError(.offline, message, request: request)
  }
}

private enum OfflineOption: RequestOption {
  static let defaultValue = OfflineRule.refuse
  static let isPortable = true
}

extension RequestOptions {
  /// The treatment of the request while the device is offline, instead of the behavior's rule.
  ///
  /// It takes effect if an ``OfflineBehavior`` is listed.
  public var offlineRule: OfflineRule {
    get { self[OfflineOption.self] }
    set { self[OfflineOption.self] = newValue }
  }
}

extension RequestBehavior where Self == OfflineBehavior {
  /// Refuses or holds requests while the device is offline; see ``OfflineBehavior``.
  ///
  /// - Parameters:
  ///   - connectivity: Whether the device is online.
  ///   - rule: What to do while it is not.
  /// - Returns: The behavior.
  public static func offline(_ connectivity: Connectivity, rule: OfflineRule = .refuse) -> OfflineBehavior {
    OfflineBehavior(connectivity, rule: rule)
  }
}
