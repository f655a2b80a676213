/// A behavior that is told of the end of every call that it is listed for, decoding included.
///
/// The hooks of a ``RequestBehavior`` see neither errors of building the request nor those of decoding the answer; this
/// sees both, once per call, when the caller's outcome is settled. Loggers and metrics are made of it.
public protocol CallObserver: RequestBehavior {
  /// Notes how a call ended.
  ///
  /// - Parameter report: The call, its outcome, and how long it took; nothing in it is redacted.
  func callEnded(_ report: CallReport)
}
