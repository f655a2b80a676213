extension SessionAccount {
  /// Checks the name of an account that an app gave.
  ///
  /// - Parameter account: The name; `nil` if the app gave none.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` if it is empty: all users
  ///   would be the same owner.
  package static func check(_ account: String?) throws {
    guard let account, account.isEmpty else { return }
    throw NetworkError(
      .invalidRequest, "the name of the account is empty, and users with the same name would share caches and queues")
  }
}
