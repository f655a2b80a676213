package import Foundation

/// The generator of all random values that nothing else injects: the system's, or that of a simulation on its thread.
package struct RandomSource: RandomNumberGenerator {
  private final class Override {
    var generator: any RandomNumberGenerator
    init(_ generator: any RandomNumberGenerator) { self.generator = generator }
  }

  // A value of the thread, not of the task: detached tasks have no task-local values, and a simulation is one thread.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private let override: Override?

  /// Creates the generator of this thread; use it at once.
  package init() {
    override = pthread_getspecific(RandomSource.key).map { Unmanaged<Override>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Returns 64 random bits.
  package mutating func next() -> UInt64 {
    if let override { return override.generator.next() }
    var system = SystemRandomNumberGenerator()
    return system.next()
  }

  /// Whether a generator that a seed decides replaces the system's on this thread.
  package static var isReplaced: Bool { pthread_getspecific(key) != nil }

  /// Takes the random values of this thread from another generator while a closure runs.
  package static func with<Result>(
    _ generator: any RandomNumberGenerator, _ work: () throws -> Result
  ) rethrows -> Result {
    let override = Override(generator)
    pthread_setspecific(key, Unmanaged.passUnretained(override).toOpaque())
    defer { pthread_setspecific(key, nil) }
    return try withExtendedLifetime(override) { try work() }
  }

  /// Returns a number from 0 to 1.
  @Sendable package static func fraction() -> Double {
    var source = RandomSource()
    return Double.random(in: 0...1, using: &source)
  }

  /// Returns random bytes.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - isSecret: Whether they come from the system in a simulation too, because a seed must not decide a secret; by
  ///     default they do not.
  /// - Returns: The bytes.
  package static func bytes(_ count: Int, isSecret: Bool = false) -> Data {
    var source: any RandomNumberGenerator = isSecret ? SystemRandomNumberGenerator() : RandomSource()
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &source) })
  }

  /// Returns a unique name, such as that of a temporary file.
  ///
  /// It comes from the system's generator, in a simulation too: runs of one seed would share their files otherwise.
  /// Foundation's UUIDs are all the same on Linux in a process that has no descriptor left.
  ///
  /// - Returns: The name, of letters and digits.
  package static func uniqueName() -> String {
    var system = SystemRandomNumberGenerator()
    return Nonce.make(.hexadecimal, of: (system.next(), system.next()))
  }

  /// Returns a UUID of version 4 in lower case (RFC 9562 §5.4).
  @Sendable package static func uuid() -> String {
    var source = RandomSource()
    let (high, low) = (source.next() & ~0xF000 | 0x4000, source.next() & ~(3 << 62) | 2 << 62)
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: 36) { buffer in
      var place = 0
      for index in 0..<32 {
        let bits = index < 16 ? high : low
        if index == 8 || index == 12 || index == 16 || index == 20 {
          buffer[place] = UInt8(ascii: "-")
          place += 1
        }
        buffer[place] = digits[Int(bits >> UInt64(60 - index % 16 * 4) & 15)]
        place += 1
      }
      return place
    }
  }

  /// Returns a UUID of version 7 (RFC 9562 §5.7), which sorts by its time.
  ///
  /// The new IDs of a table are then beside each other in its index, so that many of them change few pages.
  ///
  /// - Parameter date: The time, from 1970 on.
  /// - Returns: The UUID.
  package static func timeOrderedUUID(at date: Date) -> UUID {
    var source = RandomSource()
    // A date that is no number counts as 1970.
    let time = UInt64(Double.minimum(.maximum(date.timeIntervalSince1970 * 1_000, 0), 0xFFFF_FFFF_FFFF))
    let words = [time << 16 | source.next() & 0xFFFF, source.next()]
    return UUID(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }, version: 7)
  }
}

extension UUID {
  /// Creates a UUID of 16 bytes, of which some bits are replaced by the version and the variant (RFC 9562 §4).
  fileprivate init(_ bytes: [UInt8], version: UInt8) {
    var bytes = bytes
    bytes[6] = bytes[6] & 0x0F | version << 4
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
