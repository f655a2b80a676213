import RequestBehaviors

/// The attempts that are being sent, of those whose entries are claimed.
///
/// Entries are claimed ahead, so that requests go on while the ends of others are written to the disk. The number of
/// requests at a time stays within the limit.
struct OutboxSlots: Sendable {
  private(set) var count = 0
  private var waiting: [Waiter<Bool>] = []

  /// Returns how many entries are claimed beyond those that are sent.
  ///
  /// None with a limit of 1: a request then begins only after the end of the one before it is on the disk.
  static func ahead(of limit: Int) -> Int { max(0, limit) / 2 }

  /// Takes a slot, if one is free and no attempt waits.
  ///
  /// - Parameter limit: The number of requests at a time.
  /// - Returns: `nil` if the slot is taken, or else the waiter for the next one, which tells whether it may be used.
  mutating func take(upTo limit: Int) -> Waiter<Bool>? {
    if count < max(1, limit), waiting.isEmpty {
      count += 1
      return nil
    }
    let waiter = Waiter<Bool>()
    waiting.append(waiter)
    return waiter
  }

  /// Gives a slot back; returns the waiter that gets it, to be settled outside the lock.
  mutating func giveBack() -> Waiter<Bool>? {
    guard waiting.isEmpty else { return waiting.removeFirst() }
    count -= 1
    return nil
  }

  /// Sends the attempts that wait away; returns their waiters, to be settled outside the lock.
  mutating func dismissWaiting() -> [Waiter<Bool>] {
    defer { waiting = [] }
    return waiting
  }
}
