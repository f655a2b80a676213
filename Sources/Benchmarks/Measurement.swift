import CAllocationCounter
import Foundation

/// The cost of a piece of work, per repetition.
struct Cost {
  var nanoseconds: Double
  var cpuNanoseconds: Double
  var allocations: Double

  /// Time and allocations as text.
  var description: String { text(nanoseconds) }

  /// Processor time and allocations as text.
  var cpuDescription: String { text(cpuNanoseconds) }

  private func text(_ time: Double) -> String {
    let shown = time < 10_000 ? "\(time.formatted(0)) ns" : "\((time / 1_000).formatted(1)) µs"
    return allocation_count_is_available() ? "\(shown), \(allocations.formatted(1)) allocations" : shown
  }
}

enum Measure {
  /// A piece of work to measure.
  typealias Work = @Sendable () async throws -> Void

  /// Returns the cost of a piece of work that repeats something a number of times.
  ///
  /// It runs off the main actor, as most callers of a client do: on the main actor each send would add two thread
  /// switches.
  @concurrent
  static func cost(of count: Int, _ work: Work) async throws -> Cost {
    let allocations = allocation_count()
    let cpu = cpuTime()
    let start = ContinuousClock.now
    try await work()
    let elapsed = start.duration(to: .now)
    let usedCPU = cpuTime() - cpu
    let allocated = allocation_count() - allocations
    let number = Double(count)
    return Cost(
      nanoseconds: elapsed.nanoseconds / number, cpuNanoseconds: usedCPU / number,
      allocations: Double(allocated) / number)
  }

  /// Measures several pieces of work side by side.
  ///
  /// Each round runs one after the other; the first round is not counted.
  ///
  /// - Parameters:
  ///   - rounds: The number of rounds that count.
  ///   - count: The number of times that each piece does its work in a round.
  ///   - before: Work that is done before each piece and not measured.
  ///   - works: The pieces.
  /// - Returns: The costs of the rounds for each piece, in order, so that costs of the same round can be compared.
  /// - Throws: The error of the work.
  static func sideBySide(
    rounds: Int, count: Int, before: Work = {}, _ works: [Work]
  ) async throws -> [[Cost]] {
    var costs = [[Cost]](repeating: [], count: works.count)
    for round in 0...rounds {
      for (index, work) in works.enumerated() {
        try await before()
        let measured = try await cost(of: count, work)
        if round > 0 { costs[index].append(measured) }
      }
    }
    return costs
  }

  private static func cpuTime() -> Double {
    var usage = rusage()
    // In Glibc RUSAGE_SELF is imported with another type than getrusage takes.
    getrusage(0, &usage)
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }

  private static func nanoseconds(_ time: timeval) -> Double {
    Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3
  }
}

extension [Cost] {
  /// The median of times and allocations, and the least processor time.
  var typical: Cost {
    Cost(
      nanoseconds: map(\.nanoseconds).median, cpuNanoseconds: leastCPUNanoseconds,
      allocations: map(\.allocations).median)
  }

  /// Returns the median, over the rounds, of how many times faster this work is than the other in the same round.
  func speed(beside others: [Cost]) -> Double { zip(others, self).map { $0.nanoseconds / $1.nanoseconds }.median }

  /// Returns how many times more processor time this work takes than the other, each in its least disturbed round.
  ///
  /// Other work on the machine only ever adds processor time, by emptied caches, so the least value is the most exact.
  func ratio(to others: [Cost]) -> Double { leastCPUNanoseconds / others.leastCPUNanoseconds }

  /// Returns how much more processor time this work takes than the other, each in its least disturbed round.
  func excess(over others: [Cost]) -> Double { leastCPUNanoseconds - others.leastCPUNanoseconds }

  /// The processor time of the least disturbed round.
  var leastCPUNanoseconds: Double { map(\.cpuNanoseconds).min() ?? 0 }
}

extension [Double] {
  /// The middle value; 0 for an empty list.
  var median: Double {
    guard !isEmpty else { return 0 }
    let ordered = sorted()
    return (ordered[(count - 1) / 2] + ordered[count / 2]) / 2
  }
}

extension Duration {
  /// The duration in nanoseconds.
  var nanoseconds: Double { Double(components.seconds) * 1e9 + Double(components.attoseconds) * 1e-9 }
}

extension Double {
  /// Returns the number with the given number of digits after the point.
  func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}

/// Takes a value, so that the optimizer keeps the work that made it.
@inline(never)
func blackHole<Value>(_ value: Value) {}
