import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// A manual clock that tells when it was looked at.
///
/// For what looks at the clock where it does something that nothing else shows.
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

  /// Does something that makes somebody look at the clock so many times, and returns when that is done.
  func waitForLooks<Result>(_ count: Int, after body: () -> Result) async -> Result {
    let before = looks.arrivalCount
    let result = body()
    await looks.waitForArrivals(before + count)
    return result
  }
}
