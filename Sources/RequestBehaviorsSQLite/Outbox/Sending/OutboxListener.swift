import RequestBehaviors

/// Lets an outbox hear that an owner has left.
final class OutboxListener: RequestBehavior {
  let order = BehaviorOrder.observation
  private let ended = Locked<(@Sendable (String) async -> Void)?>(nil)

  /// Sets the closure to call with each owner that has left.
  func onEnd(_ action: @escaping @Sendable (String) async -> Void) { ended.withLock { $0 = action } }

  func scopeEnded(_ scope: String) async { await ended.withLock { $0 }?(scope) }
}
