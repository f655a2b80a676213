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
}

extension CallKey {
  /// By default a prerequisite request begins with the default value.
  public static var isInherited: Bool { false }
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
  struct Memory: Sendable {
    private struct Slot: Sendable {
      var value: any Sendable
      let isInherited: Bool
    }

    private var slots: [ObjectIdentifier: Slot] = [:]

    subscript<Key: CallKey>(key: Key.Type) -> Key.Value {
      get { slots[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue }
      set { slots[ObjectIdentifier(key)] = Slot(value: newValue, isInherited: Key.isInherited) }
    }

    /// The part that a prerequisite request begins with.
    var inherited: Memory {
      var memory = self
      memory.slots = slots.filter(\.value.isInherited)
      return memory
    }
  }
}
