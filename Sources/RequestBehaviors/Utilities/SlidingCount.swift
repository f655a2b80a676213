/// How often something happened within the latest window, in ten slots of which the oldest is forgotten at a time.
struct SlidingCount: Sendable {
  private static let slotCount = 10
  private let window: Duration
  private let slotLength: Duration
  private var slots = [Int](repeating: 0, count: SlidingCount.slotCount)
  private var current = 0
  /// When the current slot began; `nil` before the first use.
  private var began: Duration?
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
    guard let start = began else {
      began = now
      return
    }
    guard now - start < window else {
      self = SlidingCount(window: window)
      began = now
      return
    }
    var slotStart = start
    while now - slotStart >= slotLength {
      slotStart += slotLength
      current = (current + 1) % SlidingCount.slotCount
      total -= slots[current]
      slots[current] = 0
    }
    began = slotStart
  }
}
