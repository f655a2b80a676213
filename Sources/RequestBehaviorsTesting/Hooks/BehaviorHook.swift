/// A member of `RequestBehavior` that has a default.
public enum BehaviorHook: String, CaseIterable, Sendable {
  /// `order`
  case order
  /// `headers(for:)`
  case headers
  /// `modify(_:)`
  case modify
  /// `beforeSend(_:)`
  case beforeSend
  /// `afterSuccess(_:for:)`
  case afterSuccess
  /// `afterFailure(_:for:)`
  case afterFailure
  /// `intercept(_:next:)`
  case intercept
  /// `runsForPrerequisites`
  case runsForPrerequisites
  /// `scope(for:)`
  case scope
  /// `scopeEnded(_:)`
  case scopeEnded
  /// `verifies(_:)`
  case verifies
  /// `reset()`
  case reset
}
