public import Foundation

/// The state of an entry of an ``Outbox``.
public enum OutboxState: Sendable, Hashable {
  /// It is sent at this time, or as soon as the network permits.
  case waiting(until: Date)
  /// An earlier entry of its lane is not delivered yet.
  case blocked
  /// It is being sent.
  case sending
  /// It is not sent until something changes; the text says what.
  case held(String)
  /// The server has it.
  case delivered
  /// It is not sent any more, unless it is put back.
  case dead(OutboxFailure)
}
