/// A misuse of an ``Outbox``, or an entry that does not permit what was asked.
public struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the code.
    public var description: String { rawValue }

    /// The entry was delivered before, by another run of the program, which got the response.
    public static let deliveredEarlier = Code(rawValue: "deliveredEarlier")
    /// There is no such entry; it may have been discarded.
    public static let noSuchEntry = Code(rawValue: "noSuchEntry")
    /// The entry may have been sent, so that its value cannot change.
    public static let alreadySent = Code(rawValue: "alreadySent")
    /// The entry is not a dead letter.
    public static let notDead = Code(rawValue: "notDead")
    /// The request cannot be kept; the message has the part and the remedy.
    public static let cannotBeKept = Code(rawValue: "cannotBeKept")
    /// The types of operations are not consistent.
    public static let invalidOperations = Code(rawValue: "invalidOperations")
    /// A newer version of the library has changed the tables of the file.
    public static let newerFile = Code(rawValue: "newerFile")
  }

  /// The kind of error.
  public var code: Code
  /// The text of the error, with the value and the rule.
  public var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message in one line.
  public var description: String { "\(code): \(message)" }
}
