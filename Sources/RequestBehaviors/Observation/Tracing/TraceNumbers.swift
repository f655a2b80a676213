/// The random numbers of traces and spans.
///
/// They come from the system 32 at a time, because a call of the system costs as much as the rest of a trace. They are
/// no secrets: servers get them.
enum TraceNumbers {
  private static let drawn = Locked<[UInt64]>([])

  /// Returns a number that no other trace or span has.
  static func next() -> UInt64 {
    var source = RandomSource()
    // A simulation decides each number, and begins with none left over.
    if RandomSource.isReplaced { return source.next() }
    return drawn.withLock { numbers in
      if numbers.isEmpty { numbers = source.words(32) }
      return numbers.removeLast()
    }
  }
}
