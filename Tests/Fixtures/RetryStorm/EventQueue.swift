/// What happens in a simulation, in the order of its time.
struct EventQueue<Event> {
  private var heap: [(time: Double, number: Int, event: Event)] = []
  private var lastNumber = 0

  /// Adds an event.
  ///
  /// - Parameters:
  ///   - event: What happens.
  ///   - time: When, in seconds.
  mutating func add(_ event: Event, at time: Double) {
    lastNumber += 1
    heap.append((time, lastNumber, event))
    var index = heap.count - 1
    while index > 0, isBefore(index, (index - 1) / 2) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Removes the earliest event; of several at one time, the one that was added first.
  mutating func next() -> (time: Double, event: Event)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return (first.time, first.event) }
    heap[0] = last
    var index = 0
    while true {
      var least = index
      for child in [index * 2 + 1, index * 2 + 2] where child < heap.count && isBefore(child, least) { least = child }
      if least == index { return (first.time, first.event) }
      heap.swapAt(index, least)
      index = least
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].time, heap[left].number) < (heap[right].time, heap[right].number)
  }
}
