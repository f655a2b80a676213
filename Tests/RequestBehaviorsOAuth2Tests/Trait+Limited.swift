import TestLimits
import Testing

extension Trait where Self == TestLimit {
  /// Ends a test when it takes longer than a minute; each suite has this.
  static var limited: Self { TestLimit() }

  /// Ends the test when it takes longer.
  static func limited(to duration: Duration) -> Self { TestLimit(duration) }
}
