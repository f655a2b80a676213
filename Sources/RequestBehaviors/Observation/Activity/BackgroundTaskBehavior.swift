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

  /// Holds time while the request is under way, a streamed body included.
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
    let expired = NetworkError(
      .backgroundTimeExpired, "the app's time in the background was over before the request was; send it again later",
      request: request)
    if case .success(let response) = result, case .stream(let stream) = response.body {
      stream.onCompletion { _ in Task { await lease.end() } }
      let canceller = stream.canceller
      await lease.onExpiration { canceller.cancel(throwing: expired) }
      return response
    }
    let hasExpired = await lease.end()
    if hasExpired, case .failure(let error) = result, error is CancellationError, !Task.isCancelled { throw expired }
    return try result.get()
  }
}

/// Time in the background for one call: given back once, on whichever path.
@MainActor
private final class BackgroundLease {
  private let runner: any BackgroundTaskRunner
  private var id: BackgroundTaskID?
  private var hasExpired = false
  private var cancel: @Sendable () -> Void = {}

  init(_ runner: any BackgroundTaskRunner) { self.runner = runner }

  func begin(named name: String, cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
    id = runner.beginTask(named: name) { [weak self] in
      self?.hasExpired = true
      self?.cancel()
      self?.giveBack()
    }
    // A runner may expire at once, before there is an identifier to give back.
    if hasExpired { giveBack() }
  }

  /// Sets what the expiration cancels from now on; at once if it has come.
  func onExpiration(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
    if hasExpired { cancel() }
  }

  /// Gives the time back; tells whether it had expired.
  @discardableResult
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
  public static func backgroundTask(_ runner: any BackgroundTaskRunner) -> BackgroundTaskBehavior {
    BackgroundTaskBehavior(runner)
  }
}

/// What asks the system for time to finish work while the app is in the background.
public protocol BackgroundTaskRunner: Sendable {
  /// Asks for time.
  ///
  /// - Parameters:
  ///   - name: What the time is for, for debugging.
  ///   - expiration: Called at most once, when the time is about to be over.
  /// - Returns: What to hand to ``endTask(_:)``; `nil` if the system gives no time.
  @MainActor func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void)
    -> BackgroundTaskID?

  /// Gives the time back; called exactly once for each identifier.
  @MainActor func endTask(_ id: BackgroundTaskID)
}

/// The system's name for time that it gave.
public struct BackgroundTaskID: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int

  /// Creates an identifier.
  public init(rawValue: Int) { self.rawValue = rawValue }
}

#if canImport(UIKit) && !os(watchOS)
  import UIKit

  /// Asks UIKit for time in the background; for apps, not for their extensions.
  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  public struct UIKitBackgroundTasks: BackgroundTaskRunner {
    /// Creates a runner over the shared application.
    public init() {}

    /// Asks the application for time.
    @MainActor
    public func beginTask(
      named name: String, expiration: @escaping @MainActor @Sendable () -> Void
    ) -> BackgroundTaskID? {
      let id = UIApplication.shared.beginBackgroundTask(withName: name) {
        // UIKit calls its handlers on the main thread.
        MainActor.assumeIsolated { expiration() }
      }
      return id == .invalid ? nil : BackgroundTaskID(rawValue: id.rawValue)
    }

    /// Gives the time back to the application.
    @MainActor
    public func endTask(_ id: BackgroundTaskID) {
      UIApplication.shared.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: id.rawValue))
    }
  }
#endif

#if canImport(ObjectiveC)
  import Dispatch
  import Foundation

  /// Asks the process for time to finish requests: for app extensions and watchOS, which have no `UIApplication`, and for
  /// macOS.
  ///
  /// ```swift
  /// let client = NetworkClient(
  ///   baseURL: baseURL,
  ///   behaviors: [.backgroundTask(ProcessActivities())])
  /// ```
  ///
  /// One activity holds the time for all calls under way. On macOS, where a process is not suspended, it keeps the system
  /// from ending the process or from slowing it down (App Nap) meanwhile, and the time is never over. Elsewhere it is an
  /// expiring activity, which holds a thread for as long as calls are under way (Apple:
  /// "performExpiringActivity(withReason:using:)").
  public struct ProcessActivities: BackgroundTaskRunner {
    @MainActor private static let activity = SharedActivity(start: start)

    /// Creates a runner over the process.
    public init() {}

    /// Begins or joins the activity.
    @MainActor
    public func beginTask(
      named name: String, expiration: @escaping @MainActor @Sendable () -> Void
    ) -> BackgroundTaskID? {
      BackgroundTaskID(rawValue: ProcessActivities.activity.begin(name, expiration: expiration))
    }

    /// Leaves the activity, and ends it if nobody else is in it.
    @MainActor
    public func endTask(_ id: BackgroundTaskID) { ProcessActivities.activity.end(id.rawValue) }

    @MainActor
    private static func start(
      _ reason: String, _ expired: @escaping SharedActivity.Expiration
    ) -> @MainActor () -> Void {
      #if os(macOS)
        let token = ProcessInfo.processInfo.beginActivity(
          options: .userInitiatedAllowingIdleSystemSleep, reason: reason)
        return { ProcessInfo.processInfo.endActivity(token) }
      #else
        let end = DispatchSemaphore(value: 0)
        // While the block that was told "not expired" waits, the system calls it once more when the time is over.
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { hasExpired in
          if hasExpired { Task { @MainActor in expired() } } else { end.wait() }
        }
        return { end.signal() }
      #endif
    }
  }
#endif
