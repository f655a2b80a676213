/// The reason why a call was not repeated although its failure may pass.
///
/// A behavior that repeats requests sets it, and the description of the call's error shows it:
///
/// ```swift
/// request.call[RetryHindrance.self] = "the user is in a tunnel"
/// ```
public enum RetryHindrance: CallKey {
  /// No reason.
  public static let defaultValue: String? = nil
}
