/// A member of `RequestBehavior` that has a default, other than `order`, which is no hook.
public enum BehaviorHook: String, CaseIterable, Sendable {
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
  /// `warnings(in:)`
  case warnings
  /// `reset()`
  case reset
}
