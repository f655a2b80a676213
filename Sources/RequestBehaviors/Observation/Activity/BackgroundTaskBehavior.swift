/// Requests background time for each call, so that a sent request is finished when the user leaves the app.
///
/// When the time expires, the call ends with ``NetworkError/Code-swift.struct/backgroundTimeExpired`` and the time is
/// given back immediately, as the system requires.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.backgroundTask(UIKitBackgroundTasks())])
/// ```
public struct BackgroundTaskBehavior: UniqueBehavior {
  /// Around all behaviors except the user's `.first`.
  public let order = BehaviorOrder.observation
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  private let runner: any BackgroundTaskRunner

  /// Creates a behavior that requests time from a runner.
  public init(_ runner: any BackgroundTaskRunner) { self.runner = runner }

  /// Holds background time while the request is under way, including a streamed body.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let lease = await BackgroundLease(runner)
    // The request runs in a task that the expiration can cancel.
    let work = CancellableTask<NetworkResponse>()
    // The system writes the name into its logs.
    let endpoint = Redactor.standard.redact(text: request.endpoint)
    await lease.begin(named: "\(request.method) \(endpoint)") { work.cancel() }
    let result: Result<NetworkResponse, any Error>
    do { result = .success(try await work.run { try await next(request) }) } catch { result = .failure(error) }
    let expired = NetworkError(
      .backgroundTimeExpired, "the app's time in the background was over before the request was; send it again later",
      request: request)
    // The time is held until the end of a streamed body, and an expiration ends that body.
    if case .success(let response) = result, case .stream(let stream) = response.body {
      stream.onCompletion { _ in Task { await lease.end() } }
      let canceller = stream.canceller
      await lease.onExpiration { canceller.cancel(throwing: expired) }
      return response
    }
    let hasExpired = await lease.end()
    // Only the expiration's cancellation becomes an error of its own; the caller's is passed on.
    if hasExpired, case .failure(let error) = result, error is CancellationError, !Task.isCancelled { throw expired }
    return try result.get()
  }
}

/// The background time of one call, given back exactly once on every path.
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

  /// Replaces the action of the expiration; runs it at once if the time has expired already.
  func onExpiration(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
    if hasExpired { cancel() }
  }

  /// Gives the time back; returns whether it had expired.
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
  /// The app's background time expired before the request was finished.
  public static let backgroundTimeExpired = NetworkError.Code(rawValue: "backgroundTimeExpired")
}

extension RequestBehavior where Self == BackgroundTaskBehavior {
  /// Requests background time for each call; see ``BackgroundTaskBehavior``.
  public static func backgroundTask(_ runner: any BackgroundTaskRunner) -> BackgroundTaskBehavior {
    BackgroundTaskBehavior(runner)
  }
}

/// A source of background time, in which an app finishes its work.
public protocol BackgroundTaskRunner: Sendable {
  /// Requests time.
  ///
  /// - Parameters:
  ///   - name: The purpose of the time, for debugging.
  ///   - expiration: Called at most once, shortly before the time expires.
  /// - Returns: The identifier for ``endTask(_:)``; `nil` if the system grants no time.
  @MainActor func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void)
    -> BackgroundTaskID?

  /// Gives the time back; called exactly once for each identifier.
  @MainActor func endTask(_ id: BackgroundTaskID)
}

/// The system's identifier of granted time.
public struct BackgroundTaskID: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int

  /// Creates an identifier.
  public init(rawValue: Int) { self.rawValue = rawValue }
}

#if canImport(UIKit) && !os(watchOS)
  import UIKit

  /// Requests background time from UIKit; for apps, not for their extensions.
  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  public struct UIKitBackgroundTasks: BackgroundTaskRunner {
    /// Creates a runner over the shared application.
    public init() {}

    /// Requests time from the application.
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

  /// Requests time from the process to finish requests.
  ///
  /// Use it in app extensions and on watchOS, which have no `UIApplication`, and on macOS.
  ///
  /// ```swift
  /// let client = NetworkClient(
  ///   baseURL: baseURL,
  ///   behaviors: [.backgroundTask(ProcessActivities())])
  /// ```
  ///
  /// One activity holds the time for all calls under way. On macOS, where a process is not suspended, it keeps the
  /// system from terminating or slowing down the process (App Nap), and the time never expires. Elsewhere it is an
  /// expiring activity, which holds a thread while calls are under way (Apple:
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

    /// Leaves the activity, and ends it if no other call is in it.
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
        // While the block that received `false` waits, the system calls it again when the time expires.
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { hasExpired in
          if hasExpired { Task { @MainActor in expired() } } else { end.wait() }
        }
        return { end.signal() }
      #endif
    }
  }
#endif
