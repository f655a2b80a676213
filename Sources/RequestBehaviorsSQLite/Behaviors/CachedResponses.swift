/// Whether a ``SaveBehavior`` saves a response that a `CachingBehavior` already had.
public enum CachedResponses: Sendable, Hashable {
  /// Cached responses are saved too: a process that ended between storing a response and saving it saves it the next
  /// time.
  case save
  /// Cached responses are not saved, so an older response does not overwrite a row that has changed since.
  ///
  /// A response that the server confirmed counts as cached; a response that was fetched anew does not.
  case skip
}
