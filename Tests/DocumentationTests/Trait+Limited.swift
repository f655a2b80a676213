import TestLimits
import Testing

extension Trait where Self == TestLimit {
  /// Ends the test when it takes longer than a minute. Each suite has this.
  static var limited: Self { TestLimit() }
}
