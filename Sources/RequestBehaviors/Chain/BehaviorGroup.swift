/// Several behaviors as one value, for listing them together.
///
/// ```swift
/// extension RequestBehavior where Self == BehaviorGroup {
///   static var house: BehaviorGroup {
///     BehaviorGroup(TenantBehavior(tenant: "a"), .acceptLanguage())
///   }
/// }
/// ```
///
/// Each member is listed at its own place in the order. The group itself has no hooks. ``RequestBehavior/ordered(_:)``
/// puts all members of a group in one place, which ``Pipeline/warnings`` names if they have several.
public struct BehaviorGroup: RequestBehavior {
  struct Member: Sendable {
    let behavior: any RequestBehavior
    let order: BehaviorOrder?
    /// Whether the behavior is in the list of a prerequisite without its `intercept`.
    var runsHooksOnly = false
  }

  let members: [Member]
  /// The way in which the group is written in a list, such as `.resilience()`, for messages; empty by default.
  public let name: String

  /// Creates a group.
  public init(_ behaviors: any RequestBehavior...) { self.init(behaviors) }

  /// Creates a group of the behaviors in an array.
  ///
  /// - Parameters:
  ///   - behaviors: The members.
  ///   - name: The way in which the group is written in a list, for messages; empty by default.
  public init(_ behaviors: [any RequestBehavior], name: String = "") {
    members = behaviors.map { Member(behavior: $0, order: nil) }
    self.name = name
  }

  init(_ behavior: any RequestBehavior, order: BehaviorOrder, hooksOnly: Bool = false) {
    members = [Member(behavior: behavior, order: order, runsHooksOnly: hooksOnly)]
    name = ""
  }
}

extension RequestBehavior {
  /// Returns the behavior with another place in the list.
  ///
  /// A group gets one place for all of its members. To move one of several, list the members without the group.
  ///
  /// - Parameter order: The place; see ``BehaviorOrder/outside(_:)`` and ``BehaviorOrder/inside(_:)``.
  /// - Returns: A group of this behavior alone.
  public func ordered(_ order: BehaviorOrder) -> BehaviorGroup { BehaviorGroup(self, order: order) }
}
