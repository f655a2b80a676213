#if canImport(UIKit) && !os(watchOS)
  public import UIKit

  /// Starts and stops a UIKit spinner that is on screen.
  public struct UIKitActivityIndicator: ActivityIndicator {
    private let view: Weak

    /// Creates an indicator over a view, which it does not keep.
    @MainActor
    public init(_ view: UIActivityIndicatorView) { self.view = Weak(view) }

    /// Starts or stops the view's animation.
    @MainActor
    public func setActive(_ isActive: Bool) {
      if isActive { view.value?.startAnimating() } else { view.value?.stopAnimating() }
    }

    @MainActor
    private final class Weak {
      weak var value: UIActivityIndicatorView?
      init(_ value: UIActivityIndicatorView) { self.value = value }
    }
  }
#endif
