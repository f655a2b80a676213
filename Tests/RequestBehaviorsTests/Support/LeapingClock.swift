import Foundation
import RequestBehaviors
import TestSupport

/// A clock on which every wait is over at once and has taken its time all the same.
///
/// For what waits one after the other; where several wait at once, `ManualClock` decides who is first.
final class LeapingClock: Sendable {
  private let state: Box<(now: Duration, date: Date, sleeps: [Duration])>

  init(date: Date = Date(timeIntervalSince1970: 1_577_836_800)) { state = Box((.zero, date, [])) }

  /// How far time has gone.
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
  /// What behaviors recorded of a kind.
  func messages(of kind: Event.Kind) -> [String] { events.filter { $0.kind == kind }.map(\.message) }
}

/// Keeps the report of every call.
final class ReportKeeper: CallObserver {
  private let reports = Box<[CallReport]>([])

  var all: [CallReport] { reports.value }

  func callEnded(_ report: CallReport) { reports.update { $0.append(report) } }
}
