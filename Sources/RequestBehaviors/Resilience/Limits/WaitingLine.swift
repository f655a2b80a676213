/// The requests that wait for a permit, in the order in which they get one.
///
/// Joining at the end, leaving at the front and finding a place stay cheap with 10,000 requests in the line.
struct WaitingLine<Element: Sendable>: Sendable {
  // The elements that left at the front are before `head`, until they are half of all.
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : elements[head] }

  /// The element at a place, counted from 0.
  subscript(place: Int) -> Element {
    get { elements[head + place] }
    set { elements[head + place] = newValue }
  }

  /// Returns the place of the first element that does not go before another one.
  ///
  /// - Parameter goesBefore: Whether an element goes before the other one; it is true for the first ones only.
  /// - Returns: The place; the count if all go before.
  func place(after goesBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if goesBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ element: Element, at place: Int) { elements.insert(element, at: head + place) }

  mutating func remove(at place: Int) {
    guard place == 0 else {
      elements.remove(at: head + place)
      return
    }
    head += 1
    guard head >= 32, head * 2 >= elements.count else { return }
    elements.removeFirst(head)
    head = 0
  }
}

/// A request's place among those that wait: urgent ones come first, then earlier ones.
struct WaitingPlace: Hashable, Comparable {
  let priority: RequestPriority
  /// The number of the request, which is greater than those of earlier ones.
  let number: UInt64

  static func < (left: WaitingPlace, right: WaitingPlace) -> Bool {
    left.priority == right.priority ? left.number < right.number : left.priority > right.priority
  }
}
