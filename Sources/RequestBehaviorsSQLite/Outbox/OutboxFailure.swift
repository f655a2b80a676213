/// The reason for which an entry of an ``Outbox`` is a dead letter, or was not delivered at the last attempt.
public struct OutboxFailure: Error, Sendable, Codable, Hashable {
  /// A kind of failure.
  public struct Reason: RawRepresentable, Sendable, Codable, Hashable, CustomStringConvertible {
    /// The name of the reason.
    public let rawValue: String

    /// Creates a reason.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the reason.
    public var description: String { rawValue }

    /// The server refuses the request, at once or for longer than ``OutboxConfiguration/patience``.
    public static let refused = Reason(rawValue: "refused")
    /// ``OutboxDelivery/expires`` has passed.
    public static let expired = Reason(rawValue: "expired")
    /// The process ended 20 times while it sent the entry.
    public static let crashed = Reason(rawValue: "crashed")
    /// The stored value cannot be decoded, or no request can be made of it.
    public static let unreadable = Reason(rawValue: "unreadable")
    /// The user is not signed in; a dead letter's has signed out and cannot come back, or has not for 30 days.
    public static let signedOut = Reason(rawValue: "signedOut")
    /// The server has taken the request, and the response could not be saved.
    public static let notSaved = Reason(rawValue: "notSaved")
    /// The network or the server failed; the entry is sent again.
    public static let lost = Reason(rawValue: "lost")
  }

  /// The kind of failure.
  public var reason: Reason
  /// The status of the response; `nil` if there was no response.
  public var statusCode: Int?
  /// The text, in which known secrets are hidden.
  public var message: String

  /// Creates a failure.
  public init(_ reason: Reason, statusCode: Int? = nil, message: String) {
    self.reason = reason
    self.statusCode = statusCode
    self.message = message
  }
}

extension OutboxFailure: CustomStringConvertible {
  /// Reason, status and message in one line.
  public var description: String { "\(reason)\(statusCode.map { " (\($0))" } ?? ""): \(message)" }
}

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
