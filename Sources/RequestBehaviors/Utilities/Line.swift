/// Values that wait, in their order.
///
/// Joining and leaving cost the same with 10,000 values in the line, and nothing of a value is kept that has left.
package struct Line<Element> {
  // The first ones are in reverse, so that each leaves at the end: no other is moved.
  private var first: [Element] = []
  private var later: [Element] = []

  package init() {}

  package var count: Int { first.count + later.count }

  /// Adds a value at the end.
  package mutating func append(_ value: Element) { later.append(value) }

  /// Removes the first value and returns it; `nil` if there is no value.
  package mutating func popFirst() -> Element? {
    if first.isEmpty, !later.isEmpty {
      // Both keep their storage.
      swap(&first, &later)
      first.reverse()
    }
    return first.popLast()
  }
}

extension Line: Sendable where Element: Sendable {}
