/// A behavior that does nothing: for conditional listings and for measuring.
public struct EmptyBehavior: RequestBehavior {
  /// The place in the list.
  public let order: BehaviorOrder

  /// Creates a behavior that does nothing, by default in the middle.
  public init(order: BehaviorOrder = .middle) { self.order = order }
}
