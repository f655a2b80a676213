/// A list whose least element is found at once; to add an element or to remove the least costs its logarithm.
package struct Heap<Element: Comparable> {
  /// The elements; each is at most as great as those at twice its place plus one and plus two.
  private(set) var elements: [Element] = []

  /// Creates an empty list.
  package init() {}

  /// The number of elements.
  package var count: Int { elements.count }

  /// The least element.
  package var first: Element? { elements.first }

  /// Adds an element.
  package mutating func insert(_ element: Element) {
    elements.append(element)
    var place = elements.count - 1
    while place > 0, elements[place] < elements[(place - 1) / 2] {
      elements.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Removes the least element and returns it.
  package mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    var place = 0
    while true {
      var least = place
      for child in (2 * place + 1)...(2 * place + 2) where child < elements.count {
        if elements[child] < elements[least] { least = child }
      }
      guard least != place else { return first }
      elements.swapAt(place, least)
      place = least
    }
  }

  /// Removes the elements that a condition holds for.
  package mutating func removeAll(where condition: (Element) -> Bool) {
    elements.removeAll(where: condition)
    elements.sort()
  }
}

extension Heap: Sendable where Element: Sendable {}
