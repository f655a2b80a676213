import RequestBehaviors

/// The reason for which a response is not stored.
public struct CacheRefusal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The reason in words.
  public let rawValue: String

  /// Creates a reason; your own store may have reasons of its own.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The reason in words.
  public var description: String { rawValue }

  private init(_ rawValue: String) { self.rawValue = rawValue }

  /// Responses to the method are never stored.
  public static let method = Self("the method is not stored")
  /// The request says `no-store`, in its fields or by its option.
  public static let requestForbids = Self("the request says no-store")
  /// The response says `no-store`.
  public static let responseForbids = Self("the response says no-store")
  /// A response of this status is stored only with explicit freshness.
  public static let status = Self("the status is stored only with explicit freshness")
  /// The response says `must-understand`, and the cache does not know the status.
  public static let notUnderstood = Self("the status is not understood")
  /// The response is only a part of the content.
  public static let partial = Self("it is a part only")
  /// The response is a 304 to the user's own condition.
  public static let notModified = Self("it has no content")
  /// The response is the refusal of the request's own condition or range (RFC 9110 §15.5.13, §15.5.17).
  public static let conditional = Self("it answers a condition or a range")
  /// `Vary` names a field that was added further in, so the cache cannot tell which later request the response fits.
  public static let variesUnseen = Self("Vary names a field that the cache does not see")
  /// A user signed in or out while the response was under way, or the request went without the user's credentials.
  public static let otherUser = Self("it is not of the user who asked for it")
  /// A behavior without a scope, or the transport, added a secret further in, so the owner of the response is unknown
  /// (`Next.knowsOwner(of:)`).
  public static let unknownOwner = Self("a credential was added further in without a scope")
  /// No later request can match the `Vary` of the response.
  public static let varyStar = Self("Vary matches no request")
  /// A response to a POST is stored only with explicit freshness and a `Content-Location` that is its own URL.
  public static let postWithoutLocation = Self("a POST needs explicit freshness and its own Content-Location")
  /// The response was not verified to come from the server.
  public static let unverified = Self("it is not verified")
  /// The response is of another URL than the requested one.
  public static let otherURL = Self("it is of another URL")
  /// The body is shorter or longer than the response declares, or its stream was not read to its end.
  public static let incomplete = Self("it is not complete")
  /// The body has no end, such as `text/event-stream`.
  public static let endless = Self("it is a stream of events or parts without an end")
  /// The response is not fresh and has no validator, so no later request could use it.
  public static let unusable = Self("it is not fresh and has no validator")
  /// The body is longer than the store accepts.
  public static let tooLarge = Self("it is too large")
  /// The body is a file that belongs to the user.
  public static let file = Self("its body is a file")
  /// The content was changed while the response was under way, or the response to a request that was sent later came
  /// first.
  public static let changedMeanwhile = Self("its URL was changed meanwhile")
}
