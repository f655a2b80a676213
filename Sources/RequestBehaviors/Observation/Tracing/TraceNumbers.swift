/// The random numbers of traces, which come from the system for several traces at once.
///
/// A call of the system costs as much as the rest of a trace. The numbers are no secrets: servers get them.
enum TraceNumbers {
  private static let drawn = Locked<[UInt64]>([])

  /// Returns four numbers that no other trace has.
  static func takeFour() -> (UInt64, UInt64, UInt64, UInt64) {
    // A simulation decides each number, and begins with none left over.
    if RandomSource.isReplaced {
      var source = RandomSource()
      return (source.next(), source.next(), source.next(), source.next())
    }
    return drawn.withLock { numbers in
      if numbers.count < 4 {
        var source = RandomSource()
        numbers = source.words(32)
      }
      defer { numbers.removeLast(4) }
      let last = numbers.count - 1
      return (numbers[last - 3], numbers[last - 2], numbers[last - 1], numbers[last])
    }
  }
}
