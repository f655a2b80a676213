/// How the processor time of some work grows with its amount.
package enum Growth {
  /// Measures whether sixteen times the amount takes less than 64 times as long, in the shortest times.
  ///
  /// Work that looks at each of the others takes 256 times as long, in every round. Another process can only lengthen a
  /// time, through the caches of the processor that both share. So one round that it leaves alone is enough.
  ///
  /// - Parameters:
  ///   - amount: The smaller amount.
  ///   - rounds: The maximum number of measurements of both amounts. The first round after which it is so is the last.
  ///   - time: Does an amount of work and returns its processor time.
  /// - Returns: Whether it is so.
  package static func isLinear(
    from amount: Int, rounds: Int = 30, _ time: (_ amount: Int) async throws -> Duration
  ) async rethrows -> Bool {
    var (short, long) = (Duration.seconds(3_600), Duration.seconds(3_600))
    for round in 1...rounds {
      short = min(short, try await time(amount))
      long = min(long, try await time(16 * amount))
      // Three rounds at least, because the first short time is often a long one.
      if round >= 3, long < short * 64 { return true }
    }
    return false
  }
}
