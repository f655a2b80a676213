/// Why a response is not stored.
public struct CacheRefusal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The reason in words.
  public let rawValue: String

  /// Creates a reason; stores of users may have their own.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The reason in words.
  public var description: String { rawValue }

  private init(_ rawValue: String) { self.rawValue = rawValue }

  /// The method is none whose responses are stored.
  public static let method = Self("the method is not stored")
  /// The request says `no-store`, in its fields or by its option.
  public static let requestForbids = Self("the request says no-store")
  /// The response says `no-store`.
  public static let responseForbids = Self("the response says no-store")
  /// The status is none that is stored unless the response says so.
  public static let status = Self("the status is stored only with explicit freshness")
  /// The response says `must-understand`, and the cache does not know the status.
  public static let notUnderstood = Self("the status is not understood")
  /// The response is a part of the content.
  public static let partial = Self("it is a part only")
  /// The response is a 304 to the user's own condition.
  public static let notModified = Self("it has no content")
  /// The response answers a condition or a range of the request's own (RFC 9110 §15.5.13, §15.5.17).
  public static let conditional = Self("it answers a condition or a range")
  /// `Vary` names a field that was added further in, so that nobody could tell which request a response fits.
  public static let variesUnseen = Self("Vary names a field that the cache does not see")
  /// Somebody signed in or out while the response was under way.
  public static let otherUser = Self("its user has changed meanwhile")
  /// A secret was added further in by a behavior without a scope, or by the transport, so that nobody could tell whose
  /// the response is (``Next/knowsOwner(of:)``).
  public static let unknownOwner = Self("a credential was added further in without a scope")
  /// No later request can match the `Vary` of the response.
  public static let varyStar = Self("Vary matches no request")
  /// A response to a POST is stored only with explicit freshness and a `Content-Location` that is its own URL.
  public static let postWithoutLocation = Self("a POST needs explicit freshness and its own Content-Location")
  /// The response is not known to come from the server.
  public static let unverified = Self("it is not verified")
  /// The response is of another URL than the one that was asked.
  public static let otherURL = Self("it is of another URL")
  /// The body is shorter or longer than the response says, or its stream was not read to its end.
  public static let incomplete = Self("it is not complete")
  /// The body has no end, such as `text/event-stream`.
  public static let endless = Self("it is a stream of events or parts without an end")
  /// The response is not fresh, and nothing could validate it: no later request could use it.
  public static let unusable = Self("it is not fresh and has no validator")
  /// The body is longer than the store takes.
  public static let tooLarge = Self("it is too large")
  /// The body is a file of the user's.
  public static let file = Self("its body is a file")
  /// The content was changed while the response was under way.
  public static let changedMeanwhile = Self("its URL was changed meanwhile")
}
