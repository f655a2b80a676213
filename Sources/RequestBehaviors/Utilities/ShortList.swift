/// A list of mostly one value, which needs memory of its own only for further ones.
struct ShortList<Element: Sendable>: Sendable, RandomAccessCollection {
  private var head: Element?
  // `nil` rather than empty, because an empty array is retained and released with every copy, too.
  private var rest: [Element]?

  init() {}

  var startIndex: Int { 0 }

  var endIndex: Int { head == nil ? 0 : (rest?.count ?? 0) + 1 }

  subscript(index: Int) -> Element {
    if index == 0, let head { return head }
    return rest![index - 1]
  }

  /// Adds a value at the end.
  mutating func append(_ value: consuming Element) {
    if head == nil {
      head = value
    } else {
      if rest == nil { rest = [] }
      rest!.append(value)
    }
  }

  /// Changes a value where it is.
  mutating func change(at index: Int, _ change: (inout Element) -> Void) {
    if index > 0 { return change(&rest![index - 1]) }
    if head != nil { change(&head!) }
  }

  /// Removes the values for which the closure returns true.
  mutating func removeAll(where shouldRemove: (Element) throws -> Bool) rethrows {
    try rest?.removeAll(where: shouldRemove)
    if let first = head, try shouldRemove(first) { head = rest?.isEmpty == false ? rest!.removeFirst() : nil }
  }
}

extension ShortList where Element: Identifiable {
  /// Changes the value of an id where it is; adds one if there is no such value.
  ///
  /// Finding the index first would copy each value.
  mutating func change<Result>(
    _ id: Element.ID, orAdd new: @autoclosure () -> Element, _ change: (inout Element) -> Result
  ) -> Result {
    if head == nil { head = new() }
    if head!.id == id { return change(&head!) }
    if rest == nil { rest = [] }
    if let index = rest!.firstIndex(where: { $0.id == id }) { return change(&rest![index]) }
    rest!.append(new())
    return change(&rest![rest!.count - 1])
  }
}

extension ShortList: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) {
    for element in elements { append(element) }
  }
}
