/// A count of events within the latest window, in ten slots; the oldest slot is dropped as time passes.
struct SlidingCount: Sendable {
  private static let slotCount = 10
  private let window: Duration
  private let slotLength: Duration
  private var slots = [Int](repeating: 0, count: SlidingCount.slotCount)
  private var current = 0
  /// The time at which the current slot ends; `nil` before the first use.
  private var slotEnd: Duration?
  private var total = 0

  /// Creates a count of zero.
  ///
  /// - Parameter window: The length of the window.
  init(window: Duration) {
    self.window = max(window, .nanoseconds(SlidingCount.slotCount))
    slotLength = self.window / SlidingCount.slotCount
  }

  /// Counts one event.
  mutating func add(at now: Duration) {
    move(to: now)
    slots[current] += 1
    total += 1
  }

  /// Returns the number of events within the window.
  mutating func count(at now: Duration) -> Int {
    move(to: now)
    return total
  }

  /// Drops the slots that are older than the window.
  private mutating func move(to now: Duration) {
    guard var end = slotEnd else {
      slotEnd = now + slotLength
      return
    }
    guard now >= end else { return }
    // Once the window has passed since the current slot began, every slot is outdated and the count restarts.
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
