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
