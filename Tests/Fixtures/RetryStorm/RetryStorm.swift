import Foundation
import RequestBehaviors

/// Prints what clients do to a server in trouble, by what they do about failures.
///
/// | arguments | what is printed |
/// |---|---|
/// | `[clients]` | a table of clients that poll once a second, 1,000 by default |
/// | `fleet [calls] [outage] [rate] [brief]` | a table of so many calls a second, in all outages or one, at all rates or one |
/// | `--picture light`, `--picture dark` | the picture of "Surviving a bad network" |
@main
struct RetryStorm {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "--picture":
      let shown = [Simulation.Defence.none, .budget, .all].map { ($0.name, Simulation.run(clients: 1_000, $0)) }
      print(Picture(isDark: arguments.last == "dark").drawing(of: shown))
    case "fleet":
      let (outage, rate) = (arguments.dropFirst(2).first, arguments.dropFirst(3).first.flatMap { Double($0) })
      let isBrief = arguments.last == "brief"
      printFleets(
        callsPerSecond: arguments.dropFirst().first.flatMap { Double($0) } ?? 1_000,
        Outage.allCases.filter { outage == nil || $0.rawValue == outage }, at: rate.map { [$0] } ?? [0.01, 0.1, 1, 10],
        isBrief ? [.budget, .all] : [.none, .budget, .breaker, .hedging, .all, .blind])
    default: printPolling(arguments.first.flatMap { Int($0) } ?? 1_000)
    }
  }

  private static func printPolling(_ count: Int) {
    print("\(count) clients, a call a second each; during an outage of \(Simulation.outage.count) s:")
    print("sends ÷ calls  peak in 0.1 s  recovery")
    for defence in [Simulation.Defence.noJitter, .none, .budget, .breaker, .all] {
      let load = Simulation.run(clients: count, defence)
      print(
        column(String(format: "%.2f", load.amplification), 13), column("\(load.peak)", 13),
        column("\(load.recovery) s", 8), defence.name, separator: "  ")
    }
  }

  private static func printFleets(
    callsPerSecond: Double, _ outages: [Outage], at rates: [Double], _ defences: [Fleet.Defence]
  ) {
    print("about \(Int(callsPerSecond)) calls a second in all, to a server that could take 1.3 times as many")
    print("outage  calls/s  sends ÷ calls  99 % after  after 2 s")
    for outage in outages {
      for rate in rates {
        for defence in defences {
          var fleet = Fleet(max(Int(callsPerSecond / rate), 1), rate: rate, outage, defence)
          let report = fleet.run()
          print(
            column(outage.rawValue, 6), column("\(rate)", 7), column(String(format: "%.2f", report.amplification), 13),
            column("\(report.recovery) s", 10), column(String(format: "%.1f %%", report.successAfterwards * 100), 9),
            defence.name, separator: "  ")
        }
      }
    }
  }

  private static func column(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
