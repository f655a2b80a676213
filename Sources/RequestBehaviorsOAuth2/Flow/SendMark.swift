import RequestBehaviors

/// Notes whether a request was handed to a transport: a code that never left is still good.
final class SendMark: RequestBehavior {
  let order = BehaviorOrder.last
  private let mark = Locked(false)

  /// Whether a request was handed over.
  var isSet: Bool { mark.withLock { $0 } }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try Task.checkCancellation()
    mark.withLock { $0 = true }
    return try await next(request)
  }
}
