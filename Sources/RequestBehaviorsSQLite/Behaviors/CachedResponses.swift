/// Whether a ``SaveBehavior`` saves a response that a `CachingBehavior` already had.
public enum CachedResponses: Sendable, Hashable {
  /// Cached responses are saved too: a process that ended between storing a response and saving it saves it the next
  /// time.
  case save
  /// Cached responses are not saved, so an older response does not overwrite a row that has changed since.
  ///
  /// A response that the server confirmed counts as cached; a response that was fetched anew does not. Neither does one
  /// of which the store knows that it was not saved: the save failed or was cancelled, or the cache got the content
  /// without the request, such as in the background. The store knows that of the GETs since it was opened.
  case skip
}
