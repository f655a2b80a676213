/// The reason why a call was not repeated although the policy wanted it, for the description of its error.
enum RetryHindrance: CallKey {
  static let defaultValue: String? = nil
}
