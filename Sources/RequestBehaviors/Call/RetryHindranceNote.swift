/// The reason why a call was not repeated although its failure may pass.
///
/// A behavior that repeats requests sets it with `request.call[RetryHindranceNote.self]`, and the description of the
/// call's error shows it.
public enum RetryHindranceNote: CallKey {
  /// No reason.
  public static let defaultValue: String? = nil
}
