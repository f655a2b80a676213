import Foundation

/// Draws the load of a server over time, as SVG.
struct Picture {
  let isDark: Bool

  private var text: String { isDark ? "#a1a1a6" : "#6e6e73" }
  private var line: String { isDark ? "#48484a" : "#c7c7cc" }
  private var shade: String { isDark ? "#2c2c2e" : "#f2f2f7" }
  private var curves: [String] { isDark ? ["#ff6961", "#ffb340", "#30db5b"] : ["#c9342a", "#b25000", "#248a3d"] }

  // The middle of a row of seconds, and the row of a load, in the picture's units.
  private func x(_ second: Double) -> Double { 60 + second / Double(Simulation.seconds) * 640 }
  private func y(_ load: Double) -> Double { 210 - load * 0.04 }

  /// Draws the loads, each with its name and its requests for each call.
  func drawing(of loads: [(name: String, load: Simulation.Load)]) -> String {
    let (start, end) = (x(Double(Simulation.outage.lowerBound)), x(Double(Simulation.outage.upperBound)))
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 300" width="720" height="300" \
      font-family="-apple-system, Helvetica, Arial, sans-serif" font-size="12">
      <title>Requests a second that reach a server which fails for a minute</title>
      """,
      "<rect x=\"\(number(start))\" y=\"20\" width=\"\(number(end - start))\" height=\"190\" fill=\"\(shade)\"/>",
      label("the server fails", (start + end) / 2, 34, "middle"),
    ]
    for load in stride(from: 0, through: 4_000, by: 1_000) {
      let row = y(Double(load))
      parts.append(
        """
        <line x1="60" x2="700" y1="\(number(row))" y2="\(number(row))" stroke="\(line)" stroke-width="0.5"/>\
        \(label("\(load)", 52, row + 4, "end"))
        """)
    }
    parts.append(label("requests a second", 12, 14, "start"))
    for second in stride(from: 0, through: Simulation.seconds, by: 60) {
      // The last one would be cut off at the edge.
      let anchor = second == Simulation.seconds ? "end" : "middle"
      parts.append(label("\(second) s", x(Double(second)), 230, anchor))
    }
    for ((name, load), (index, color)) in zip(loads, curves.enumerated()) {
      let points = load.perSecond.enumerated()
        .map { "\(number(x(Double($0) + 0.5))),\(number(y(Double($1))))" }.joined(separator: " ")
      parts.append("<polyline points=\"\(points)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>")
      let legend = "\(name): \(String(format: index == 0 ? "%.1f" : "%.2f", load.amplification)) requests a call"
      parts.append(label(legend, 60, 254 + Double(index) * 17, "start", color))
    }
    return (parts + ["</svg>"]).joined(separator: "\n")
  }

  private func label(_ words: String, _ x: Double, _ y: Double, _ anchor: String, _ color: String? = nil) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" fill=\"\(color ?? text)\" text-anchor=\"\(anchor)\">\(words)</text>"
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
