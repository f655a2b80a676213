import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct RandomSourceTests {
  @Test(arguments: [Double.nan, -.infinity, -1, .infinity, 1e300])
  func `a date that a UUID cannot hold makes one of its first or last date`(seconds: Double) {
    let id = RandomSource.timeOrderedUUID(at: Date(timeIntervalSince1970: seconds)).uuidString
    #expect(id.hasPrefix(seconds > 0 ? "FFFFFFFF-FFFF-7" : "00000000-0000-7"))
  }

  @Test(arguments: [false, true]) func `random bytes differ`(isSecret: Bool) {
    let bytes = RandomSource.bytes(32, isSecret: isSecret)
    #expect(bytes.count == 32)
    #expect(bytes != RandomSource.bytes(32, isSecret: isSecret))
  }

  @Test func `a seed decides random bytes, but no secret ones`() {
    struct Fixed: RandomNumberGenerator {
      mutating func next() -> UInt64 { 7 }
    }
    let (some, secret) = RandomSource.with(Fixed()) { (RandomSource.bytes(16), RandomSource.bytes(16, isSecret: true)) }
    #expect(some == RandomSource.with(Fixed()) { RandomSource.bytes(16) })
    #expect(secret != RandomSource.with(Fixed()) { RandomSource.bytes(16, isSecret: true) })
  }
}
