/// A list of mostly one value, which needs memory of its own only for further ones.
struct ShortList<Element: Sendable>: Sendable, RandomAccessCollection {
  private var head: Element?
  private var rest: [Element] = []

  var startIndex: Int { 0 }

  var endIndex: Int { head == nil ? 0 : rest.count + 1 }

  subscript(index: Int) -> Element {
    if index == 0, let head { return head }
    return rest[index - 1]
  }

  /// Adds a value at the end.
  mutating func append(_ value: Element) {
    if head == nil { head = value } else { rest.append(value) }
  }

  /// Changes a value where it is.
  mutating func change(at index: Int, _ change: (inout Element) -> Void) {
    if index > 0 { return change(&rest[index - 1]) }
    if head != nil { change(&head!) }
  }

  /// Removes the values for which the closure returns true.
  mutating func removeAll(where shouldRemove: (Element) throws -> Bool) rethrows {
    try rest.removeAll(where: shouldRemove)
    if let first = head, try shouldRemove(first) { head = rest.isEmpty ? nil : rest.removeFirst() }
  }
}

extension ShortList: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) {
    for element in elements { append(element) }
  }
}
