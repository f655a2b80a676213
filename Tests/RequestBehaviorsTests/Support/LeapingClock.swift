import Foundation
import RequestBehaviors
import TestSupport

/// A clock on which every wait ends at once and still advances the time.
///
/// A clock for consecutive waits; for concurrent ones, `ManualClock` decides which is first.
final class LeapingClock: Sendable {
  private let state: Box<(now: Duration, date: Date, sleeps: [Duration])>

  init(date: Date = Date(timeIntervalSince1970: 1_577_836_800)) { state = Box((.zero, date, [])) }

  /// The present time.
  var now: Duration { state.value.now }
  var date: Date { state.value.date }

  /// The waits so far, in order.
  var sleeps: [Duration] { state.value.sleeps }

  func advance(by duration: Duration) {
    state.update {
      $0.now += duration
      $0.date += Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
  }

  var requestClock: RequestClock {
    RequestClock(
      now: { self.now }, date: { self.date },
      sleep: { duration in
        self.advance(by: duration)
        self.state.update { $0.sleeps.append(duration) }
      })
  }
}

extension Call {
  /// The events of a kind that behaviors recorded.
  func messages(of kind: Event.Kind) -> [String] { events.filter { $0.kind == kind }.map(\.message) }
}

/// Keeps the report of every call.
final class ReportKeeper: CallObserver {
  private let reports = Box<[CallReport]>([])

  var all: [CallReport] { reports.value }

  func callEnded(_ report: CallReport) { reports.update { $0.append(report) } }
}
