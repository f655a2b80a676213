public import Foundation

/// Something that happened to an ``Outbox`` or one of its entries.
public struct OutboxEvent: Sendable, CustomStringConvertible {
  /// A kind of event.
  public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the kind.
    public var description: String { rawValue }

    /// An entry was delivered; the ``OutboxEvent/error`` is that of decoding the response, if any.
    public static let delivered = Kind(rawValue: "delivered")
    /// An entry is sent again at the ``OutboxEvent/date``.
    public static let retrying = Kind(rawValue: "retrying")
    /// An entry has become a dead letter.
    public static let dead = Kind(rawValue: "dead")
    /// An entry is not sent for now, for the reason in the ``OutboxEvent/message``.
    public static let held = Kind(rawValue: "held")
    /// Sending has stopped until the ``OutboxEvent/date``, because no request reaches the server.
    ///
    /// Where there is no token for a user, that concerns the entries of the user only.
    public static let paused = Kind(rawValue: "paused")
    /// Sending goes on after a pause, or a `drain`, a sign-in or another network has ended it.
    public static let resumed = Kind(rawValue: "resumed")
    /// The file could not be read or written; the attempt is repeated.
    public static let failed = Kind(rawValue: "failed")
  }

  /// The kind of event.
  public var kind: Kind
  /// The ID of the entry; `nil` if the event concerns all.
  public var id: UUID?
  /// The name of the entry's operation.
  public var name: String?
  /// The failure of the attempt.
  public var failure: OutboxFailure?
  /// The time at which sending goes on.
  public var date: Date?
  /// The reason as text.
  public var message: String?
  /// The error behind the event.
  public var error: (any Error)?

  init(
    _ kind: Kind, id: UUID? = nil, name: String? = nil, failure: OutboxFailure? = nil, date: Date? = nil,
    message: String? = nil, error: (any Error)? = nil
  ) {
    (self.kind, self.id, self.name, self.failure) = (kind, id, name, failure)
    (self.date, self.message, self.error) = (date, message, error)
  }

  /// Kind, operation and reason in one line.
  public var description: String {
    [kind.rawValue, name, id?.uuidString, failure?.description, message].compactMap { $0 }.joined(separator: " ")
  }
}
