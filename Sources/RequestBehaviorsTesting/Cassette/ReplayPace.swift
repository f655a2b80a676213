import Foundation
import RequestBehaviors

/// The pace at which a ``CassetteTransport`` plays responses.
public struct ReplayPace: Sendable, Hashable {
  /// The number by which recorded times are divided; 0 for no waits.
  let factor: Double

  /// Without waits, in the recorded chunks; the default.
  public static let immediate = ReplayPace(factor: 0)
  /// At the recorded times, on the call's clock, with a ``ManualClock`` in virtual time.
  public static let recorded = ReplayPace(factor: 1)

  /// So many times faster than it was recorded.
  ///
  /// - Parameter factor: A number above 0; otherwise there are no waits.
  /// - Returns: The pace.
  public static func scaled(_ factor: Double) -> ReplayPace {
    ReplayPace(factor: factor > 0 ? factor : 0)
  }

  /// Whether responses may take time.
  var waits: Bool { factor > 0 }

  func time(_ recorded: Duration) -> Duration {
    // Few durations can be divided by a tiny number.
    factor == 1 ? recorded : factor > 0 ? Duration(clamping: recorded.inSeconds / factor) : .zero
  }
}
