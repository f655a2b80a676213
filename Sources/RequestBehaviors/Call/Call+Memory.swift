/// A key under which behaviors store a value for the length of a call, such as "has been replayed".
///
/// ```swift
/// enum HasReplayed: CallKey { static let defaultValue = false }
///
/// func isFirstReplay(_ request: NetworkRequest) -> Bool {
///   request.call.update(HasReplayed.self) { hasReplayed in
///     defer { hasReplayed = true }
///     return !hasReplayed
///   }
/// }
/// ```
public protocol CallKey {
  /// The type of the stored value.
  associatedtype Value: Sendable
  /// The value before a behavior changes it.
  static var defaultValue: Value { get }
  /// Whether a prerequisite request, such as one for a token, begins with the value of the call that needs it.
  ///
  /// By default it does not.
  static var isInherited: Bool { get }
  /// Whether the value is dropped when the `send` ends.
  ///
  /// By default it is kept as long as the call, which every response and error refers to. Drop a value that refers to a
  /// request, a response or a file.
  static var endsWithSend: Bool { get }
}

extension CallKey {
  /// False by default: a prerequisite request begins with the default value.
  public static var isInherited: Bool { false }

  /// False by default: the value is kept as long as the call.
  public static var endsWithSend: Bool { false }
}

extension Call {
  /// The value under a key.
  public subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
    get { withState { $0.memory[key] } }
    set { withState { $0.memory[key] = newValue } }
  }

  /// Changes the value under a key, atomically.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - change: Gets the value to change; it must not use the call itself.
  /// - Returns: The result of the closure.
  public func update<Key: CallKey, Result>(
    _ key: Key.Type, _ change: (inout Key.Value) throws -> Result
  ) rethrows -> Result {
    try withState { try change(&$0.memory[key]) }
  }

  /// The values that a prerequisite request of this call begins with.
  var inheritedMemory: Memory { withState { $0.memory.inherited } }

  /// The values that behaviors store in a call, by the identity of the key.
  ///
  /// A copy begins with the values of the original and changes on its own.
  struct Memory: Sendable {
    private struct Slot: Sendable {
      let key: ObjectIdentifier
      let isInherited: Bool
      let endsWithSend: Bool
      var content: Content
    }

    // A list rather than a dictionary, because few behaviors store a value.
    private var slots: [Slot] = []

    subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
      get {
        guard let content = slots.first(where: { $0.key == ObjectIdentifier(key) })?.content as? Value<Key.Value> else {
          return Key.defaultValue
        }
        return content.value
      }
      _modify {
        let content = ownContent(of: key)
        yield &content.value
      }
    }

    /// Returns this copy's own box of a value, to be changed in place.
    ///
    /// Taking the value out and putting it back would copy it for each change.
    private mutating func ownContent<Key: CallKey>(of key: Key.Type) -> Value<Key.Value> {
      let id = ObjectIdentifier(key)
      if let index = slots.firstIndex(where: { $0.key == id }) {
        if !isKnownUniquelyReferenced(&slots[index].content) { slots[index].content = slots[index].content.copy() }
        if let content = slots[index].content as? Value<Key.Value> { return content }
      }
      let content = Value(Key.defaultValue)
      slots.append(Slot(key: id, isInherited: Key.isInherited, endsWithSend: Key.endsWithSend, content: content))
      return content
    }

    /// Drops the values that end with the `send`.
    ///
    /// - Returns: The dropped values, to be released outside of the lock.
    mutating func endSend() -> [any Sendable] {
      guard slots.contains(where: \.endsWithSend) else { return [] }
      defer { slots.removeAll(where: \.endsWithSend) }
      return slots.filter(\.endsWithSend).map(\.content)
    }

    /// The values that a prerequisite request begins with.
    var inherited: Memory {
      var memory = self
      memory.slots.removeAll { !$0.isInherited }
      return memory
    }
  }
}

extension Call.Memory {
  // Unchecked: it is changed only through the one memory that refers to it, under the call's lock.
  private class Content: @unchecked Sendable {
    func copy() -> Content { self }
  }

  // Unchecked as its superclass is.
  private final class Value<Wrapped: Sendable>: Content, @unchecked Sendable {
    // Not checked, because the lock of the call makes each access exclusive.
    @exclusivity(unchecked) var value: Wrapped

    init(_ value: Wrapped) { self.value = value }

    override func copy() -> Content { Value(value) }
  }
}
