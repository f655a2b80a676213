/// Replaces the errors of everything further in by errors of your own.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [
///     .mapError { error in
///       (try? (error as? NetworkError)?.decode(APIError.self)) ?? error
///     }
///   ])
/// ```
///
/// It is first in the list, so that no other behavior sees the replacement. Cancellation is never replaced. Errors of
/// building the request and of decoding the response arise outside of the list and are not replaced.
public struct MapErrorBehavior: UniqueBehavior {
  /// Outermost.
  public let order = BehaviorOrder.first
  private let transform: @Sendable (any Error) async -> any Error

  /// Creates a behavior that replaces errors.
  ///
  /// - Parameter transform: Returns the error to throw instead; it receives an unacceptable status as a
  ///   ``NetworkError``.
  public init(_ transform: @escaping @Sendable (any Error) async -> any Error) { self.transform = transform }

  /// Throws the replacement of an error further in, or of an unacceptable status.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let response: NetworkResponse
    do {
      response = try await next(request)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw await transform(error)
    }
    guard response.isAcceptable else { throw await transform(NetworkError.unacceptableStatus(response)) }
    return response
  }
}

extension RequestBehavior where Self == MapErrorBehavior {
  /// Replaces errors by errors of your own; see ``MapErrorBehavior``.
  public static func mapError(_ transform: @escaping @Sendable (any Error) async -> any Error) -> MapErrorBehavior {
    MapErrorBehavior(transform)
  }
}
