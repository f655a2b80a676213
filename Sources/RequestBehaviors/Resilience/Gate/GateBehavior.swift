/// Holds requests while the user's gate is closed, and releases them together.
///
/// ```swift
/// let gate = Gate(longestWait: .seconds(30))
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.gate(gate)])
/// try await client.send(.get("status").with(\.bypassesGate, true))
/// ```
///
/// A request fails with ``NetworkError/Code-swift.struct/gateClosed`` if it waits too long, or if too many requests
/// wait already. A cancelled request stops waiting at once.
public struct GateBehavior: UniqueBehavior {
  /// Before the first attempt.
  public let order = BehaviorOrder.gate
  /// A name that tells several gates of a list apart.
  public let name: String

  let gate: Gate

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - gate: The gate.
  ///   - name: A name that tells several gates of a list apart; empty by default.
  public init(_ gate: Gate, name: String = "") {
    self.gate = gate
    self.name = name
  }

  /// Sends the request once the gate is open, or throws.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    if !gate.isOpen, !request.options.bypassesGate {
      try await gate.pass(request, from: "GateBehavior") { reason in
        NetworkError(.gateClosed, "the gate is closed, and \(reason)", request: request)
      }
    }
    return try await next(request)
  }

  /// Wakes the waiting requests, which then check the gate again.
  public func reset() async { gate.release() }
}

private enum BypassesGate: RequestOption {
  static let defaultValue = false
  static let isPortable = true
}

extension RequestOptions {
  /// Whether the request passes closed gates, and is sent even if the device seems to be offline; false by default.
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
