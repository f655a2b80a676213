/// The random numbers of traces and spans.
///
/// They are no secrets: servers get them. The system seeds their generator once, because its own numbers would be a
/// fifth of what a trace costs.
@usableFromInline
enum TraceNumbers {
  private static let generator: Locked<Xoshiro256> = {
    var system = SystemRandomNumberGenerator()
    return Locked(Xoshiro256(seededBy: &system))
  }()

  /// Returns a number that no other trace or span has.
  @usableFromInline
  static func next() -> UInt64 {
    replaced { $0.next() } ?? generator.withLock { $0.next() }
  }

  /// Returns the numbers of a new trace, as ``next()`` would one after the other.
  static func nextTrace() -> (high: UInt64, low: UInt64, parent: UInt64) {
    replaced { ($0.next(), $0.next(), $0.next()) } ?? generator.withLock { ($0.next(), $0.next(), $0.next()) }
  }

  /// Takes numbers from the generator of a simulation, which decides each of them; `nil` without one.
  private static func replaced<Result>(_ take: (inout RandomSource) -> Result) -> Result? {
    guard RandomSource.isReplaced else { return nil }
    var source = RandomSource()
    return take(&source)
  }
}
