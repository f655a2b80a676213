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
