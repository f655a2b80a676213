/// Holds requests while the user's gate is closed, and releases them together.
///
/// ```swift
/// let gate = Gate(longestWait: .seconds(30))
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.gate(gate)])
/// try await client.send(.get("status").with(\.bypassesGate, true))
/// ```
///
/// A request that waits too long, or where too many wait already, fails with
/// ``NetworkError/Code-swift.struct/gateClosed``. Whoever is cancelled leaves at once.
public struct GateBehavior: UniqueBehavior {
  /// Before anything is tried.
  public let order = BehaviorOrder.gate
  /// What tells several gates of a list apart.
  public let name: String

  let gate: Gate

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - gate: The gate.
  ///   - name: What tells several gates of a list apart; empty by default.
  public init(_ gate: Gate, name: String = "") {
    self.gate = gate
    self.name = name
  }

  /// Sends the request when the gate is open.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    if !gate.isOpen, !request.options.bypassesGate {
      try await gate.pass(request, from: "GateBehavior") { reason in
        NetworkError(.gateClosed, "the gate is closed, and \(reason)", request: request)
      }
    }
    return try await next(request)
  }

  /// Lets those who wait look at the gate again.
  public func reset() async { gate.release() }
}

private enum BypassesGate: RequestOption {
  static let defaultValue = false
  static let isPortable = true
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether the request passes closed gates, and is tried though the device seems to be offline; false by default.
  public var bypassesGate: Bool {
    get { self[BypassesGate.self] }
    set { self[BypassesGate.self] = newValue }
  }
}

extension RequestBehavior where Self == GateBehavior {
  /// Holds requests while a gate is closed; see ``GateBehavior``.
  ///
  /// - Parameter gate: The gate.
  /// - Returns: The behavior.
  public static func gate(_ gate: Gate) -> GateBehavior { GateBehavior(gate) }
}
