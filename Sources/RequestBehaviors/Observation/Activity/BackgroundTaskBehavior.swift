/// Holds time in the background for each call, so that a request that was sent is finished when the user leaves the app.
///
/// When the time is over, the call is ended with ``NetworkError/Code-swift.struct/backgroundTimeExpired`` and the time
/// given back at once, as the system demands.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.backgroundTask(UIKitBackgroundTasks())])
/// ```
public struct BackgroundTaskBehavior: UniqueBehavior {
  /// Around everything but the user's `.first`.
  public let order = BehaviorOrder.observation
  /// Nothing is held while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true
  private let runner: any BackgroundTaskRunner

  /// Creates a behavior that asks a runner for time.
  public init(_ runner: any BackgroundTaskRunner) { self.runner = runner }

  /// Holds time while the request is under way.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let lease = await BackgroundLease(runner)
    // The request runs in a task that the expiration can cancel; a cancellation of the caller is passed on to it.
    let work = Task { try await next(request) }
    await lease.begin(named: "\(request.method) \(request.endpoint)") { work.cancel() }
    let result = await withTaskCancellationHandler {
      await work.result
    } onCancel: {
      work.cancel()
    }
    let hasExpired = await lease.end()
    if hasExpired, case .failure(let error) = result, error is CancellationError, !Task.isCancelled {
      throw NetworkError(
        .backgroundTimeExpired, "the app's time in the background was over before the request was; send it again later",
        request: request)
    }
    return try result.get()
  }
}

/// Time in the background for one call: given back once, on whichever path.
@MainActor
private final class BackgroundLease {
  private let runner: any BackgroundTaskRunner
  private var id: BackgroundTaskID?
  private var hasExpired = false

  init(_ runner: any BackgroundTaskRunner) { self.runner = runner }

  func begin(named name: String, cancel: @escaping @Sendable () -> Void) {
    id = runner.beginTask(named: name) { [weak self] in
      cancel()
      self?.hasExpired = true
      self?.giveBack()
    }
    // A runner may expire at once, before there is an identifier to give back.
    if hasExpired { giveBack() }
  }

  /// Gives the time back; tells whether it had expired.
  func end() -> Bool {
    giveBack()
    return hasExpired
  }

  private func giveBack() {
    guard let id else { return }
    self.id = nil
    runner.endTask(id)
  }
}

extension NetworkError.Code {
  /// The app's time in the background was over before the request was.
  public static let backgroundTimeExpired = NetworkError.Code(rawValue: "backgroundTimeExpired")
}

extension RequestBehavior where Self == BackgroundTaskBehavior {
  /// Holds time in the background for each call; see ``BackgroundTaskBehavior``.
  ///
  /// - Parameter runner: What asks the system for time.
  /// - Returns: The behavior.
  public static func backgroundTask(_ runner: any BackgroundTaskRunner) -> BackgroundTaskBehavior {
    BackgroundTaskBehavior(runner)
  }
}
