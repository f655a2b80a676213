/// What shows that requests are under way, such as a spinner.
public protocol ActivityIndicator: Sendable {
  /// Shows or hides the indication.
  @MainActor func setActive(_ isActive: Bool)
}
