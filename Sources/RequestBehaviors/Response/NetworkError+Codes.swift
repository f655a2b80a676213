extension NetworkError.Code {
  private init(_ rawValue: String) { self.init(rawValue: rawValue) }

  // The request could not be built.

  /// The URL is missing, relative, malformed, not http or https, or has a user name.
  public static let invalidURL = Self("invalidURL")
  /// The method, a header, the body, an option or the name of an account breaks a rule.
  public static let invalidRequest = Self("invalidRequest")
  /// The body could not be encoded.
  public static let encodingFailed = Self("encodingFailed")
  /// The list of behaviors is invalid, or a behavior broke a promise; the message has the behavior's type.
  public static let invalidBehavior = Self("invalidBehavior")
  /// The request explicitly requires credentials, and goes to an origin that they are not for.
  public static let credentialsWithheld = Self("credentialsWithheld")

  // The request could not be sent, or no complete response arrived.

  /// No connection could be made: it was refused, or the host is unreachable.
  public static let cannotConnect = Self("cannotConnect")
  /// The host's name could not be resolved.
  public static let dnsFailed = Self("dnsFailed")
  /// The secure connection failed: the certificate is untrusted, expired or for another host.
  public static let tlsFailed = Self("tlsFailed")
  /// The connection was lost before or during the response.
  public static let connectionLost = Self("connectionLost")
  /// The response ended before it was complete.
  public static let truncatedBody = Self("truncatedBody")
  /// The response is not HTTP, or its framing or encoding is broken.
  public static let badResponse = Self("badResponse")
  /// The send exceeded its idle timeout or its total timeout.
  public static let timedOut = Self("timedOut")
  /// The body of the response is longer than the limit.
  public static let bodyTooLarge = Self("bodyTooLarge")
  /// The platform cannot send to an IPv6 literal.
  public static let unsupportedAddress = Self("unsupportedAddress")
  /// The client was shut down.
  public static let clientShutDown = Self("clientShutDown")
  /// A body that can be read once was sent or read already.
  public static let bodyConsumed = Self("bodyConsumed")
  /// A body file or stream could not be read.
  public static let bodyUnreadable = Self("bodyUnreadable")
  /// The transport failed for a reason that it could not classify.
  public static let transportFailed = Self("transportFailed")
  /// The call reached the limit of sends per call.
  public static let tooManyAttempts = Self("tooManyAttempts")

  // The request was refused locally, before it was sent.

  /// The deadline of the whole call passed, or a wait would have exceeded it.
  public static let deadlineExceeded = Self("deadlineExceeded")
  /// The circuit breaker is open: too many recent requests to the origin failed.
  public static let circuitOpen = Self("circuitOpen")
  /// The rate limit, configured or announced by the server, would not admit the request in time.
  public static let rateLimited = Self("rateLimited")
  /// Too many requests are under way, and the queue for a permit is full.
  public static let concurrencyLimited = Self("concurrencyLimited")
  /// The gate is closed and did not open in time, or too many requests wait at it.
  public static let gateClosed = Self("gateClosed")
  /// The device is offline.
  public static let offline = Self("offline")

  // The response did not come from the server, or is a failure.

  /// The response did not come from the server but from an intermediary, such as a captive portal.
  public static let intercepted = Self("intercepted")
  /// The request does not accept the status.
  public static let unacceptableStatus = Self("unacceptableStatus")
  /// A redirect could not be followed: too many, a loop, several locations, or a URL that must not be followed.
  public static let redirectFailed = Self("redirectFailed")
  /// The link to the next page of a list cannot be followed, or leads to an origin that is not allowed.
  public static let linkNotFollowed = Self("linkNotFollowed")

  // The response could not be used.

  /// The body could not be decoded as the type.
  public static let decodingFailed = Self("decodingFailed")
  /// The body is empty but a value is required.
  public static let emptyBody = Self("emptyBody")
  /// The decoder does not read the media type of the body.
  public static let unexpectedContentType = Self("unexpectedContentType")
  /// The body is a stream or a file that was not read into memory.
  public static let bodyNotBuffered = Self("bodyNotBuffered")
}
