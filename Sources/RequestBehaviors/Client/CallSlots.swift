/// What a call remembers for its behaviors, by identity.
///
/// The first slot, which most calls have at most, is kept without an allocation of its own.
struct CallSlots {
  /// Keeps a value in its place, so that changing it copies nothing.
  final class Slot<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var first: (id: ObjectIdentifier, slot: AnyObject)?
  private var rest: [ObjectIdentifier: AnyObject] = [:]

  subscript(id: ObjectIdentifier) -> AnyObject? {
    get { first?.id == id ? first?.slot : rest[id] }
    set {
      if let newValue, first == nil || first?.id == id { first = (id, newValue) } else { rest[id] = newValue }
    }
  }
}
