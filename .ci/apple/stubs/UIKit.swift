// What the sources use of UIKit; HANDLER_MAIN_ACTOR is for SDKs whose handler is isolated to the main actor.
@_exported public import Foundation

@MainActor open class UIResponder: NSObject {}
@MainActor open class UIView: UIResponder {}
@MainActor open class UIActivityIndicatorView: UIView {
  open func startAnimating() {}
  open func stopAnimating() {}
  open var isAnimating: Bool { false }
}
public struct UIBackgroundTaskIdentifier: Hashable, Equatable, RawRepresentable, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
}
extension UIBackgroundTaskIdentifier { public static var invalid: UIBackgroundTaskIdentifier { .init(rawValue: 0) } }
@MainActor open class UIApplication: UIResponder {
  @available(iOSApplicationExtension, unavailable)
  open class var shared: UIApplication { fatalError() }
  #if HANDLER_MAIN_ACTOR
    open func beginBackgroundTask(
      withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }
  #else
    open func beginBackgroundTask(withName taskName: String?, expirationHandler handler: (() -> Void)? = nil)
      -> UIBackgroundTaskIdentifier
    { .invalid }
  #endif
  open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
