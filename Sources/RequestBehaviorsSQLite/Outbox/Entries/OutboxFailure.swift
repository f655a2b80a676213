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
