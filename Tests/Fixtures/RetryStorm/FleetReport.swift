/// What became of the calls of a simulated fleet, by the second in which they began.
struct FleetReport {
  /// The second in which the outage begins, and the one in which it is over.
  static let outage = 60..<120
  /// The second in which the last calls begin.
  static let end = 180

  private(set) var calls = [Int](repeating: 0, count: FleetReport.end)
  private(set) var successes = [Int](repeating: 0, count: FleetReport.end)
  private(set) var sends = [Int](repeating: 0, count: FleetReport.end)

  mutating func addCall(at time: Double) { calls[Int(time)] += 1 }

  /// Counts a call that succeeded.
  ///
  /// - Parameter start: When it began.
  mutating func addSuccess(ofCallAt start: Double) { successes[Int(start)] += 1 }

  mutating func addSend(at time: Double) { if time < Double(FleetReport.end) { sends[Int(time)] += 1 } }

  /// The sends during the outage for each call of that time.
  var amplification: Double {
    Double(sends[FleetReport.outage].reduce(0, +)) / Double(max(calls[FleetReport.outage].reduce(0, +), 1))
  }

  /// The share of those calls that succeed which begin more than two seconds after the outage.
  var successAfterwards: Double { success(of: FleetReport.outage.upperBound + 2..<FleetReport.end) }

  /// The seconds after the outage from which on 99 % of the calls of each second succeed.
  var recovery: Int {
    let after = FleetReport.outage.upperBound..<FleetReport.end
    let last = after.last { success(of: $0..<$0 + 1) < 0.99 }
    return last.map { $0 + 1 - after.lowerBound } ?? 0
  }

  private func success(of seconds: Range<Int>) -> Double {
    Double(successes[seconds].reduce(0, +)) / Double(max(calls[seconds].reduce(0, +), 1))
  }
}
