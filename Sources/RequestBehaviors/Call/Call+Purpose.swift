extension Call {
  /// The reason why a call was made.
  public struct Purpose: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the purpose.
    public let rawValue: String

    /// Creates a purpose.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the purpose.
    public var description: String { rawValue }

    /// A user of the client sent it.
    public static let request = Purpose(rawValue: "request")
    /// Another call needs it, such as one for a token.
    public static let prerequisite = Purpose(rawValue: "prerequisite")
    /// It does the sends of calls that wait for it, as with `.coalescing()`.
    ///
    /// Observers hear of its sends, and neither of its start nor of its end, because the calls that wait are reported.
    public static let shared = Purpose(rawValue: "shared")
    /// It goes on by itself, such as the refresh of a stored response.
    public static let background = Purpose(rawValue: "background")
  }

  /// The call that the sends of this one serve: for a shared one the call that began it, otherwise this one.
  ///
  /// A ``CallObserver`` hears of the sends of a shared call, and only of the beginning and end of those it serves.
  public var servedID: ID { purpose == .shared ? (root ?? id) : id }
}
