import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// A manual clock that tells when it was looked at.
///
/// A clock whose reads show an action that has no other sign.
final class ObservedClock: Sendable {
  let manual = ManualClock()
  private let looks = TestGate()

  var requestClock: RequestClock {
    let (manual, looks) = (manual.requestClock, looks)
    return RequestClock(
      now: {
        looks.arrive()
        return manual.now()
      }, date: manual.date, sleep: manual.sleep)
  }

  /// Performs an action that reads the clock so many times, and returns after the last read.
  func waitForLooks<Result>(_ count: Int, after body: () -> Result) async -> Result {
    let before = looks.arrivalCount
    let result = body()
    await looks.waitForArrivals(before + count)
    return result
  }
}
