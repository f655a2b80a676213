/// Replaces the errors that leave the client by errors of your own.
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
/// The closure gets each error that a caller would get, once, wherever it arises: building the request, encoding,
/// sending, an unacceptable status, decoding, the rest of a streamed body, lines, events, downloads and pages. It gets
/// no `CancellationError`; a cancelled call throws that. No behavior and no observer sees the replacement:
/// ``CallReport/error`` and ``BodyCompletion/error`` are the original. So are the errors of prerequisite requests,
/// which their behavior decides by.
///
/// A request's own replaces the configuration's.
public struct MapErrorBehavior: UniqueBehavior, ErrorMapper {
  /// Outermost.
  public let order = BehaviorOrder.first
  private let transform: @Sendable (any Error) -> any Error

  /// Creates a behavior that replaces errors.
  ///
  /// - Parameter transform: Returns the error to throw instead; it receives an unacceptable status as a
  ///   ``NetworkError``.
  public init(_ transform: @escaping @Sendable (any Error) -> any Error) { self.transform = transform }

  /// Returns the replacement of an error.
  public func mapped(_ error: any Error) -> any Error { transform(error) }
}

extension RequestBehavior where Self == MapErrorBehavior {
  /// Replaces the errors that leave the client by errors of your own; see ``MapErrorBehavior``.
  public static func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> MapErrorBehavior {
    MapErrorBehavior(transform)
  }
}
