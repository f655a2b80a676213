/// Which passes through a behavior's `intercept` are over, in one bit each: the first 64 without an allocation.
struct StepLedger {
  private var count = 0
  private var first: UInt64 = 0
  private var rest: [UInt64] = []

  mutating func begin() -> Int {
    defer { count += 1 }
    if count >= 64, count % 64 == 0 { rest.append(0) }
    return count
  }

  mutating func end(_ step: Int) {
    if step < 64 { first |= 1 << UInt64(step) } else { rest[step / 64 - 1] |= 1 << UInt64(step % 64) }
  }

  func hasEnded(_ step: Int) -> Bool {
    let word = step < 64 ? first : rest[step / 64 - 1]
    return word & (1 << UInt64(step % 64)) != 0
  }
}
