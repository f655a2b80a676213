import Foundation
import RequestBehaviors

/// A line that shows how far a download is: `[#####     ]  50 %  1.0 MB of 2.0 MB  0.5 MB/s  2 s left`.
struct ProgressBar {
  /// How many columns the bar between the brackets has.
  var width = 24

  /// Returns the line for a state.
  ///
  /// - Parameters:
  ///   - state: How far the transfer is.
  ///   - elapsed: How long it has been under way.
  /// - Returns: The line, without an end.
  func line(for state: TransferProgress.State, after elapsed: Duration) -> String {
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    let speed = seconds > 0 ? Double(state.received) / seconds : nil
    var parts: [String] = []
    if let fraction = state.fractionReceived, let total = state.expectedToReceive {
      parts.append("[\(bar(fraction))] \(padded("\(Int(fraction * 100))", to: 3)) %")
      parts.append("\(size(Double(state.received))) of \(size(Double(total)))")
    } else {
      parts.append(size(Double(state.received)))
    }
    if let speed { parts.append("\(size(speed))/s") }
    if let left = secondsLeft(state, speed), !state.isFinished { parts.append("\(left) s left") }
    if state.attempt > 1 { parts.append("attempt \(state.attempt)") }
    return parts.joined(separator: "  ")
  }

  private func bar(_ fraction: Double) -> String {
    let filled = Int(fraction * Double(width))
    return String(repeating: "#", count: filled) + String(repeating: " ", count: width - filled)
  }

  private func secondsLeft(_ state: TransferProgress.State, _ speed: Double?) -> Int? {
    guard let total = state.expectedToReceive, let speed, speed > 0 else { return nil }
    let seconds = (Double(max(total - state.received, 0)) / speed).rounded(.up)
    return seconds < 360_000 ? Int(seconds) : nil
  }

  /// Bytes as people read them, in powers of 1000.
  private func size(_ bytes: Double) -> String {
    if bytes < 1_000 { return "\(Int(bytes)) B" }
    let units = [(1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")]
    // What would be rounded to 1000 of a unit is shown in the next.
    let (divisor, unit) = units.last { bytes >= $0.0 * 0.99995 } ?? units[0]
    return "\(String(format: "%.1f", bytes / divisor)) \(unit)"
  }

  private func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

extension ProgressBar {
  /// Shows the states of a progress on the terminal, on one line that is written over; elsewhere only the last.
  func show(_ progress: TransferProgress) async {
    let clock = ContinuousClock()
    let start = clock.now
    let isTerminal = isatty(STDOUT_FILENO) == 1
    for await state in progress.states where isTerminal || state.isFinished {
      let text = line(for: state, after: clock.now - start)
      // To the beginning of the line, and clear it.
      let prefix = isTerminal ? "\r\u{1B}[K" : ""
      print("\(prefix)  \(text)", terminator: state.isFinished ? "\n" : "")
      fflush(nil)
    }
  }
}
