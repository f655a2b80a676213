extension NetworkError.Code {
  private init(_ rawValue: String) { self.init(rawValue: rawValue) }

  // The request could not be built.

  /// The URL is missing, relative, malformed, of another scheme than http and https, or has a user name in it.
  public static let invalidURL = Self("invalidURL")
  /// The method, a header, the body or an option breaks a rule.
  public static let invalidRequest = Self("invalidRequest")
  /// The body could not be encoded.
  public static let encodingFailed = Self("encodingFailed")
  /// The list of behaviors is wrong, or a behavior broke a promise; the message names it by type.
  public static let invalidBehavior = Self("invalidBehavior")
  /// The request explicitly requires credentials, and goes to an origin that they are not for.
  public static let credentialsWithheld = Self("credentialsWithheld")

  // The request could not be sent, or not be answered.

  /// No connection could be made: refused or unreachable.
  public static let cannotConnect = Self("cannotConnect")
  /// The host's name could not be resolved.
  public static let dnsFailed = Self("dnsFailed")
  /// The secure connection could not be made: the certificate is not trusted, expired or for another host.
  public static let tlsFailed = Self("tlsFailed")
  /// The connection was lost before or during the response.
  public static let connectionLost = Self("connectionLost")
  /// The response ended before it was complete.
  public static let truncatedBody = Self("truncatedBody")
  /// The response is not HTTP, or its framing or encoding is broken.
  public static let badResponse = Self("badResponse")
  /// The time for the send was over, idle or in all.
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
  /// The transport failed in a way that it could not name.
  public static let transportFailed = Self("transportFailed")
  /// The call made as many sends as a call may.
  public static let tooManyAttempts = Self("tooManyAttempts")

  // The request was refused on this side, before it was sent.

  /// The time for the whole call was over, or a wait would have outlasted it.
  public static let deadlineExceeded = Self("deadlineExceeded")
  /// The circuit breaker is open: too many requests to the origin failed of late.
  public static let circuitOpen = Self("circuitOpen")
  /// The rate limit, the user's or the server's, leaves no room in time.
  public static let rateLimited = Self("rateLimited")
  /// Too many requests are under way, and the queue for the next place is full.
  public static let concurrencyLimited = Self("concurrencyLimited")
  /// The gate is closed and did not open in time, or too many requests wait at it.
  public static let gateClosed = Self("gateClosed")
  /// The device is offline.
  public static let offline = Self("offline")

  // The response is not from the server, or a failure.

  /// The response did not come from the server: something between, such as a captive portal, gave it.
  public static let intercepted = Self("intercepted")
  /// The status is none that the request accepts.
  public static let unacceptableStatus = Self("unacceptableStatus")
  /// A redirect could not be followed: too many, a loop, or a URL that must not be followed.
  public static let redirectFailed = Self("redirectFailed")
  /// The link to the next page of a list cannot be followed, or leads to an origin that is not allowed.
  public static let linkNotFollowed = Self("linkNotFollowed")

  // The response could not be used.

  /// The body does not fit the type.
  public static let decodingFailed = Self("decodingFailed")
  /// The body is empty where a value is needed.
  public static let emptyBody = Self("emptyBody")
  /// The media type of the body is none that the decoder reads.
  public static let unexpectedContentType = Self("unexpectedContentType")
  /// The body is a stream that was not read into memory.
  public static let bodyNotBuffered = Self("bodyNotBuffered")
}
