import Foundation
import RequestBehaviors

/// Prints what clients do to a server that fails for a minute, with and without budget, jitter and circuit breaker.
///
/// `RetryStorm [clients]` prints a table, for 1,000 clients by default; `RetryStorm --picture light` or `dark` prints
/// the picture of "Surviving a bad network".
@main
struct RetryStorm {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--picture" {
      let shown = [Simulation.Defence.none, .budget, .all].map { ($0.name, Simulation.run(clients: 1_000, $0)) }
      return print(Picture(isDark: arguments.last == "dark").drawing(of: shown))
    }
    let count = arguments.first.flatMap { Int($0) } ?? 1_000
    print("\(count) clients, a call a second each; during an outage of \(Simulation.outage.count) s:")
    print("sends ÷ calls  peak in 0.1 s  recovery")
    for defence in [Simulation.Defence.noJitter, .none, .budget, .breaker, .all] {
      let load = Simulation.run(clients: count, defence)
      print(
        column(String(format: "%.2f", load.amplification), 13), column("\(load.peak)", 13),
        column("\(load.recovery) s", 8), defence.name, separator: "  ")
    }
  }

  private static func column(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
