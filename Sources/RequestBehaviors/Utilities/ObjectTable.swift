/// Values by objects, each for as long as its object exists.
package struct ObjectTable<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: (any AnyObject & Sendable)?
    let value: Value
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  /// The number of entries at which those without an object are removed.
  ///
  /// It is twice the number of objects, so that an object costs the same however many there are.
  private var limit = 16

  /// Creates an empty table.
  package init() {}

  /// Returns the value of an object, which is made if it has none.
  package mutating func value(of object: any AnyObject & Sendable, orMake make: () -> Value) -> Value {
    // A later object may have the identity of an earlier one.
    if let entry = entries[ObjectIdentifier(object)], entry.object === object { return entry.value }
    if entries.count >= limit {
      entries = entries.filter { $0.value.object != nil }
      limit = max(16, entries.count * 2)
    }
    let value = make()
    entries[ObjectIdentifier(object)] = Entry(object: object, value: value)
    return value
  }
}
