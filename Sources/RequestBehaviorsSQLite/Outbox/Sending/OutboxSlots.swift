import RequestBehaviors

/// Limits the requests at a time among the attempts whose entries are claimed.
///
/// Entries are claimed ahead, so that requests go on while the ends of others are written to the disk.
struct OutboxSlots: Sendable {
  /// What an attempt got that asked for a slot.
  enum Reply {
    /// A slot.
    case taken
    /// A wait for the next slot, which tells whether to use it.
    case waiting(Waiter<Bool>)
    /// Nothing, because an entry without a request sends nothing.
    case notNeeded
    /// Nothing, because its entry may not be sent now.
    case refused
  }

  private(set) var count = 0
  private var waiting: [Waiter<Bool>] = []

  /// Returns how many entries are claimed beyond those that are sent.
  ///
  /// None with a limit of 1: a request then begins only after the end of the one before it is on the disk.
  static func ahead(of limit: Int) -> Int { limit / 2 }

  /// Takes a slot, if one is free and no attempt waits.
  ///
  /// - Parameter limit: The number of requests at a time, at least 1.
  /// - Returns: `nil` if the slot is taken, or else the waiter for the next one, which tells whether it may be used.
  mutating func take(upTo limit: Int) -> Waiter<Bool>? {
    if count < limit, waiting.isEmpty {
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

  /// Removes the attempts that wait; returns their waiters, to be settled outside the lock.
  mutating func dismissWaiting() -> [Waiter<Bool>] {
    defer { waiting = [] }
    return waiting
  }
}
