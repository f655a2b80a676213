/// A kind of thing that behaviors remember for the length of a call, such as "has been replayed".
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
  /// The type of what is remembered.
  associatedtype Value: Sendable
  /// What is remembered at first.
  static var defaultValue: Value { get }
  /// Whether a prerequisite request, such as one for a token, begins with what the call that needs it remembers; by
  /// default it does not.
  static var isInherited: Bool { get }
  /// Whether it is forgotten when the `send` ends; by default it is remembered as long as the call is, which every
  /// response and error refers to.
  ///
  /// What refers to a request, a response or a file should be forgotten then.
  static var endsWithSend: Bool { get }
}

extension CallKey {
  /// By default a prerequisite request begins with the default value.
  public static var isInherited: Bool { false }

  /// By default it is remembered as long as the call is.
  public static var endsWithSend: Bool { false }
}

extension Call {
  /// What is remembered under a key.
  public subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
    get { withState { $0.memory[key] } }
    set { withState { $0.memory[key] = newValue } }
  }

  /// Changes what is remembered under a key, atomically.
  ///
  /// - Parameters:
  ///   - key: The kind of thing.
  ///   - change: Gets the value to change; it must not use the call itself.
  /// - Returns: What the closure returns.
  public func update<Key: CallKey, Result>(
    _ key: Key.Type, _ change: (inout Key.Value) throws -> Result
  ) rethrows -> Result {
    try withState { try change(&$0.memory[key]) }
  }

  /// What a prerequisite request of this call begins with.
  var inheritedMemory: Memory { withState { $0.memory.inherited } }

  /// What behaviors remember in a call, by the identity of the key.
  ///
  /// A copy remembers what the original did, and from then on for itself.
  struct Memory: Sendable {
    private struct Slot: Sendable {
      let key: ObjectIdentifier
      let isInherited: Bool
      let endsWithSend: Bool
      var content: Content
    }

    // A list rather than a dictionary: few behaviors remember anything.
    private var slots: [Slot] = []

    subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
      get {
        let slot = slots.first { $0.key == ObjectIdentifier(key) }
        return (slot?.content as? Value<Key.Value>)?.value ?? Key.defaultValue
      }
      _modify {
        let content = ownContent(of: key)
        yield &content.value
      }
    }

    /// Returns what a key remembers in this copy alone, in place: a copy out and back in would double each change.
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

    /// Forgets what is not remembered longer than the `send`.
    ///
    /// - Returns: What was forgotten, to be released when the lock is.
    mutating func endSend() -> [any Sendable] {
      guard slots.contains(where: \.endsWithSend) else { return [] }
      defer { slots.removeAll(where: \.endsWithSend) }
      return slots.filter(\.endsWithSend).map(\.content)
    }

    /// The part that a prerequisite request begins with.
    var inherited: Memory {
      var memory = self
      memory.slots.removeAll { !$0.isInherited }
      return memory
    }
  }
}

extension Call.Memory {
  // Unchecked, because only a memory that alone refers to it changes it, under the call's lock.
  private class Content: @unchecked Sendable {
    func copy() -> Content { self }
  }

  // Unchecked as its superclass is.
  private final class Value<Wrapped: Sendable>: Content, @unchecked Sendable {
    var value: Wrapped

    init(_ value: Wrapped) { self.value = value }

    override func copy() -> Content { Value(value) }
  }
}
