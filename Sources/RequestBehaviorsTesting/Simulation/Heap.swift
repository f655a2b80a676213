/// A heap whose first element is the smallest.
struct Heap<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private let isBefore: @Sendable (Element, Element) -> Bool

  init(by isBefore: @escaping @Sendable (Element, Element) -> Bool) { self.isBefore = isBefore }

  /// The smallest element.
  var first: Element? { elements.first }

  mutating func push(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, isBefore(elements[index], elements[(index - 1) / 2]) {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func pop() -> Element? {
    guard let first = elements.first else { return nil }
    let last = elements.removeLast()
    guard !elements.isEmpty else { return first }
    elements[0] = last
    var index = 0
    while true {
      let (left, right) = (2 * index + 1, 2 * index + 2)
      var smallest = index
      if left < elements.count, isBefore(elements[left], elements[smallest]) { smallest = left }
      if right < elements.count, isBefore(elements[right], elements[smallest]) { smallest = right }
      if smallest == index { return first }
      elements.swapAt(index, smallest)
      index = smallest
    }
  }
}
