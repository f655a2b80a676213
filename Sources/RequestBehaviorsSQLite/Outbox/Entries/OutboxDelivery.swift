public import Foundation
public import RequestBehaviors

/// The order and the conditions in which an operation of an ``Outbox`` is delivered.
///
/// ```swift
/// struct RenameNote: OutboxOperation {
///   static let name = "note.rename"
///   var id: UUID
///   var title: String
///
///   var delivery: OutboxDelivery {
///     OutboxDelivery(
///       lane: "note-\(id)", identity: "title-\(id)",
///       repeats: .replaced)
///   }
///
///   func request(in db: Database) -> Request<Void> {
///     .put("notes/\(id)/title", body: .json(title))
///   }
/// }
/// ```
public struct OutboxDelivery: Sendable, Hashable {
  /// The treatment of a second operation of the same ``identity``.
  public enum Repeat: Sendable, Hashable {
    /// The first one is kept and the second is not enqueued.
    ///
    /// That is also so while a delivered one is remembered (``OutboxConfiguration/remembersDelivered``).
    case kept
    /// The second replaces the first, unless that may have been sent; then it is enqueued behind it.
    ///
    /// The entry keeps its ID, its lane and its place there. Value, key, times and base URL are those of the second.
    case replaced
  }

  /// The lane: entries of one lane are delivered one after the other, in the order of their commits; `nil`, the
  /// default, for any order.
  public var lane: String?

  /// The name of the thing that the operation is about; `nil`, the default, for none.
  ///
  /// At most one entry of an identity waits. Operations that replace each other and have no lane share one.
  public var identity: String?

  /// The treatment of a second operation of the same identity; kept by default.
  public var repeats: Repeat

  /// The idempotency key of all attempts; by default the ID of the entry, in the field `Idempotency-Key`.
  ///
  /// The field is set for every method. A request that has a key of its own (`RequestOptions.idempotencyKey`) is sent
  /// with that one.
  public var key: IdempotencyKey

  /// The time before which nothing is sent; `nil`, the default, for none.
  ///
  /// The wait until then is what counts: if the clock of the machine is set back, the time is moved with it.
  public var notBefore: Date?

  /// The time from which the entry is no longer sent and becomes a dead letter; `nil`, the default, for none.
  public var expires: Date?

  /// Creates the conditions of a delivery.
  ///
  /// - Parameters:
  ///   - lane: The lane; none by default.
  ///   - identity: The name of the thing that the operation is about; none by default.
  ///   - repeats: The treatment of a second operation of the same identity.
  ///   - key: The idempotency key.
  ///   - notBefore: The time before which nothing is sent.
  ///   - expires: The time from which the entry is no longer sent.
  public init(
    lane: String? = nil, identity: String? = nil, repeats: Repeat = .kept, key: IdempotencyKey = .generated,
    notBefore: Date? = nil, expires: Date? = nil
  ) {
    self.lane = lane
    self.identity = identity
    self.repeats = repeats
    self.key = key
    self.notBefore = notBefore
    self.expires = expires
  }
}

extension OutboxDelivery {
  /// The prefix of the lanes that identities make.
  ///
  /// It begins with a control character, which the name of a user's lane hardly does.
  private static let ownLanes = "\u{1}identity "

  /// The lane in the file: operations that replace each other never overtake.
  var storedLane: String? {
    if let lane { return lane }
    return repeats == .replaced ? identity.map { Self.ownLanes + $0 } : nil
  }

  /// Whether a dead letter at the head of a lane may stop it.
  static func stops(_ lane: String) -> Bool { !lane.hasPrefix(ownLanes) }
}
