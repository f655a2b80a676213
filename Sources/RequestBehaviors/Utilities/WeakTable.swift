/// Objects by keys, each for as long as it is held elsewhere.
package struct WeakTable<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: Object?
  }

  private var entries: [Key: Entry] = [:]
  /// The number of entries at which those without an object are removed.
  ///
  /// It is twice the number of objects, so that an object costs the same however many there are.
  private var limit = 16

  /// Creates an empty table.
  package init() {}

  /// The number of entries, with those whose object does not exist any more.
  package var count: Int { entries.count }

  /// Returns the object of a key, which is made unless one exists that can be used.
  package mutating func object(
    for key: Key, if isUsable: (Object) -> Bool = { _ in true }, orMake make: () -> Object
  ) -> Object {
    if let object = entries[key]?.object, isUsable(object) { return object }
    if entries.count >= limit {
      entries = entries.filter { $0.value.object != nil }
      limit = max(16, entries.count * 2)
    }
    let object = make()
    entries[key] = Entry(object: object)
    return object
  }
}
