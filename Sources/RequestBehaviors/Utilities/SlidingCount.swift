/// How often something happened within the latest window, in ten slots of which the oldest is forgotten at a time.
struct SlidingCount: Sendable {
  private static let slotCount = 10
  private let window: Duration
  private let slotLength: Duration
  private var slots = [Int](repeating: 0, count: SlidingCount.slotCount)
  private var current = 0
  /// When the current slot is over; `nil` before the first use.
  private var slotEnd: Duration?
  private var total = 0

  /// Creates a count of nothing.
  ///
  /// - Parameter window: The time over which things count.
  init(window: Duration) {
    self.window = max(window, .nanoseconds(SlidingCount.slotCount))
    slotLength = self.window / SlidingCount.slotCount
  }

  /// Counts one more.
  mutating func add(at now: Duration) {
    move(to: now)
    slots[current] += 1
    total += 1
  }

  /// How many there were.
  mutating func count(at now: Duration) -> Int {
    move(to: now)
    return total
  }

  /// Forgets what is older than the window.
  private mutating func move(to now: Duration) {
    guard var end = slotEnd else {
      slotEnd = now + slotLength
      return
    }
    guard now >= end else { return }
    guard now - end < window - slotLength else {
      self = SlidingCount(window: window)
      slotEnd = now + slotLength
      return
    }
    while now >= end {
      end += slotLength
      current = (current + 1) % SlidingCount.slotCount
      total -= slots[current]
      slots[current] = 0
    }
    slotEnd = end
  }
}
