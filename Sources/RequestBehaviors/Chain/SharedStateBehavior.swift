/// A behavior whose copies share an object, so that what one of them is told of holds for all.
///
/// Variants of a client list copies of its behaviors. ``RequestBehavior/scopeEnded(_:)`` is called for one of the
/// copies, and for one of each type if types share the object. A class needs no such protocol.
public protocol SharedStateBehavior: RequestBehavior {
  /// The object that all copies share.
  var sharedState: AnyObject { get }
}
