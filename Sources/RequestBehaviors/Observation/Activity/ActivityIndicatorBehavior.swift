/// Shows on an indicator whether any request is under way.
///
/// It counts the calls of every client that lists it. The indicator changes on the main actor, after a delay in both
/// directions: short requests do not make it flash, and it stays on between successive requests.
///
/// ```swift
/// let activity = ActivityIndicatorBehavior(spinner)
/// let client = NetworkClient(baseURL: baseURL, behaviors: [activity])
/// ```
public struct ActivityIndicatorBehavior: UniqueBehavior {
  /// Around all behaviors except the user's `.first`.
  public let order = BehaviorOrder.observation
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  private let tracker: Tracker

  /// Creates a behavior that updates an indicator.
  ///
  /// - Parameters:
  ///   - indicator: The indicator of the activity.
  ///   - showDelay: The time that a request must be under way before the indicator shows it; 300 ms by default.
  ///   - hideDelay: The time without any request before the indicator is hidden; 200 ms by default.
  public init(
    _ indicator: any ActivityIndicator, showDelay: Duration = .milliseconds(300),
    hideDelay: Duration = .milliseconds(200)
  ) {
    tracker = Tracker(indicator, showDelay: showDelay, hideDelay: hideDelay)
  }

  /// The number of requests under way.
  public var inFlightCount: Int { tracker.count }

  /// Counts the request while it is under way, including a streamed body.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let (clock, tracker) = (request.call.clock, tracker)
    tracker.begin(clock)
    do {
      let response = try await next(request)
      response.onCompletion { _ in tracker.end(clock) }
      return response
    } catch {
      tracker.end(clock)
      throw error
    }
  }

  private final class Tracker: Sendable {
    private let indicator: any ActivityIndicator
    private let showDelay: Duration
    private let hideDelay: Duration
    private let state = Locked(ActivityState())

    init(_ indicator: any ActivityIndicator, showDelay: Duration, hideDelay: Duration) {
      self.indicator = indicator
      self.showDelay = showDelay
      self.hideDelay = hideDelay
    }

    var count: Int { state.withLock { $0.count } }

    func begin(_ clock: RequestClock) {
      if let change = state.withLock({ $0.begin() }) { schedule(change, after: showDelay, clock) }
    }

    func end(_ clock: RequestClock) {
      if let change = state.withLock({ $0.end() }) { schedule(change, after: hideDelay, clock) }
    }

    /// Settles a change after a delay; it has no effect if another change has replaced it by then.
    private func schedule(_ change: ActivityState.Change, after delay: Duration, _ clock: RequestClock) {
      Task {
        try? await clock.sleep(for: delay)
        await settle(change)
      }
    }

    @MainActor
    private func settle(_ change: ActivityState.Change) {
      if let isActive = state.withLock({ $0.settle(change) }) { indicator.setActive(isActive) }
    }
  }
}

extension RequestBehavior where Self == ActivityIndicatorBehavior {
  /// Shows on an indicator whether any request is under way; see ``ActivityIndicatorBehavior``.
  public static func activityIndicator(_ indicator: any ActivityIndicator) -> ActivityIndicatorBehavior {
    ActivityIndicatorBehavior(indicator)
  }
}

/// An indicator of requests under way, such as a spinner.
public protocol ActivityIndicator: Sendable {
  /// Shows or hides the indicator.
  @MainActor func setActive(_ isActive: Bool)
}

/// Decides when an indicator changes, from the number of requests.
struct ActivityState: Sendable {
  /// A change that is due later, unless another change replaces it.
  struct Change: Sendable, Equatable {
    let isActive: Bool
    let generation: Int
  }

  private(set) var count = 0
  private(set) var isShown = false
  private var generation = 0

  /// Counts a request that begins; returns the change that it causes after a delay.
  mutating func begin() -> Change? {
    count += 1
    return count == 1 ? propose() : nil
  }

  /// Counts a request that ends; returns the change that it causes after a delay.
  mutating func end() -> Change? {
    count -= 1
    return count == 0 ? propose() : nil
  }

  /// Makes a due change, unless another has replaced it; returns the new state of the indicator if it changes.
  mutating func settle(_ change: Change) -> Bool? {
    guard change.generation == generation, change.isActive != isShown else { return nil }
    isShown = change.isActive
    return isShown
  }

  private mutating func propose() -> Change? {
    generation += 1
    let isActive = count > 0
    return isActive == isShown ? nil : Change(isActive: isActive, generation: generation)
  }
}

#if canImport(UIKit) && !os(watchOS)
  public import UIKit

  /// Starts and stops a UIKit spinner that is on screen.
  public struct UIKitActivityIndicator: ActivityIndicator {
    private let view: Weak

    /// Creates an indicator that refers to a view weakly.
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
