extension NetworkClient {
  /// The behaviors that every client has without being told; see ``RequestConfiguration/removedBehaviors``.
  static let builtIns: [any RequestBehavior] = [RedirectsBehavior()]
}
