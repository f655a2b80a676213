public import Foundation

/// The numbers of entries of an ``Outbox``, without those that were delivered.
public struct OutboxSummary: Sendable, Hashable {
  /// The entries of the signed-in user that are still to be delivered.
  public var waiting = 0
  /// The entries of the signed-in user that wait for another base URL or for a type that is not registered.
  public var held = 0
  /// The dead letters of the signed-in user.
  public var dead = 0
  /// The entries of accounts that are not signed in, dead letters not included.
  public var others = 0
  /// The time at which the first of the waiting entries is due, which may have passed; `nil` if none waits.
  ///
  /// During a pause, sending goes on later: the ``OutboxEvent/date`` of the event tells when.
  public var nextAttempt: Date?

  /// Creates a summary without entries.
  public init() {}

  /// Whether nothing of the signed-in user is left to be delivered.
  public var isEmpty: Bool { waiting == 0 && held == 0 }
}
