/// The random numbers of traces and spans.
///
/// They come from the system 32 at a time, because a call of the system costs as much as the rest of a trace. They are
/// no secrets: servers get them.
@usableFromInline
enum TraceNumbers {
  private static let drawn = Locked<[UInt64]>([])

  /// Returns a number that no other trace or span has.
  @usableFromInline
  static func next() -> UInt64 {
    var source = RandomSource()
    // A simulation decides each number, and begins with none left over.
    if RandomSource.isReplaced { return source.next() }
    return drawn.withLock { take(from: &$0) }
  }

  /// Returns the numbers of a new trace, as ``next()`` would one after the other.
  static func nextTrace() -> (high: UInt64, low: UInt64, parent: UInt64) {
    if RandomSource.isReplaced { return (next(), next(), next()) }
    return drawn.withLock { (take(from: &$0), take(from: &$0), take(from: &$0)) }
  }

  private static func take(from numbers: inout [UInt64]) -> UInt64 {
    if numbers.isEmpty {
      var source = RandomSource()
      numbers = source.words(32)
    }
    return numbers.removeLast()
  }
}
