#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLSessionTransport {
  /// The settings of a ``URLSessionTransport``.
  public struct Configuration: Sendable {
    /// The maximum number of connections to one host at a time, at least 1.
    ///
    /// Further requests wait.
    ///
    /// The default is 128, so that the platform's own limit of 6 delays no request.
    public var maximumConnectionsPerHost: Int

    /// The requests that may use a connection that has served others; by default all requests.
    ///
    /// Unsolicited bytes that a server sends over an idle connection become the response to the next request over it:
    /// URLSession gives no chance to check before. A connection that serves one request cannot have such a response,
    /// but costs its setup, including the TLS handshake. See ``ConnectionReuse``.
    public var connectionReuse = ConnectionReuse.all

    /// Whether cookies that servers set are kept in memory and sent back; false by default.
    ///
    /// If true, they replace a `Cookie` field of a request on Linux. All clients over the transport share them.
    /// ``NetworkClient/reset()`` and every sign-out of a session that is used with the transport forget them. A
    /// redirect or a retry of a call that was sent before that fails with
    /// ``NetworkError/Code-swift.struct/signedOut``, unless its owner is known and still there. For a cache such a
    /// cookie is a credential: see "Caching" of `RequestBehaviorsCaching`.
    ///
    /// The platform keeps cookies before behaviors see a response. So it also keeps those of an interim response, and
    /// those of a portal or proxy whose response ``NonceVerificationBehavior`` refuses. Over http a portal can thus set
    /// cookies for your server; over https a proxy can by its response to `CONNECT`. Where that matters, use tokens, or
    /// set the `Cookie` field in a behavior of your own.
    public var handlesCookies: Bool

    /// The rules of which servers are trusted; by default those of the system.
    ///
    /// On Linux any other policy fails every send with ``NetworkError/Code-swift.struct/unsupportedTrust``, because
    /// URLSession offers no callback for trust there.
    public var trust: TrustPolicy

    /// The certificate and key that identify the client to a server that asks; `nil` by default.
    ///
    /// On Linux it fails every send with ``NetworkError/Code-swift.struct/unsupportedTrust``.
    ///
    /// Elsewhere an identity that is not in PKCS #12 does so.
    public var identity: ClientIdentity?

    /// The spool for the unread bytes of streamed responses; 512 KiB in memory and 1 GiB in total by default.
    public var spool = BodySpool(memoryLimit: 512 * 1_024, limit: 1 << 30)

    /// The spool for the streams of requests' bodies until they are sent; 256 KiB in memory and 4 GiB in total by
    /// default.
    public var uploadSpool = BodySpool()

    /// Changes the platform's settings: proxies, the use of cellular or constrained networks, the minimum version of
    /// TLS, protocol classes, and others.
    ///
    /// It is called once, when the transport is created.
    ///
    /// ```swift
    /// let configuration = URLSessionTransport.Configuration {
    ///   $0.allowsCellularAccess = false
    /// }
    /// ```
    ///
    /// On Linux it needs an import of `FoundationNetworking`. It gets an ephemeral configuration; there are no
    /// background sessions. The transport sets these after it:
    ///
    /// | setting | value | why |
    /// |---|---|---|
    /// | `urlCache`, `requestCachePolicy` | none | a transport caches nothing; on Linux a cache ends the process |
    /// | `urlCredentialStorage` | none | credentials are the behaviors' |
    /// | `httpMaximumConnectionsPerHost` | ``maximumConnectionsPerHost`` | it is a setting of its own |
    /// | cookies, unless ``handlesCookies`` | none | one user's must not be another's |
    /// | `httpAdditionalHeaders` | none | they would go to any host, and no log shows them; use ``HeadersBehavior`` |
    /// | `timeoutIntervalForRequest`, `timeoutIntervalForResource` | weeks | the transport's own clock decides |
    ///
    /// With `waitsForConnectivity` the idle timeout runs while URLSession waits.
    ///
    /// A cookie storage that it sets is used where ``handlesCookies`` is true. A sign-out removes all cookies from it,
    /// also those of others who use it. A response that is under way then may still put a cookie of the user who has
    /// left into it. So keep the transport's own storage where users change.
    public var adjustPlatform: (@Sendable (URLSessionConfiguration) -> Void)?

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - maximumConnectionsPerHost: The maximum number of connections to one host at a time.
    ///   - handlesCookies: Whether cookies are kept and sent back.
    ///   - trust: The rules of which servers are trusted.
    ///   - identity: The certificate and key that identify the client.
    ///   - adjustPlatform: Changes the platform's settings.
    public init(
      maximumConnectionsPerHost: Int = 128, handlesCookies: Bool = false, trust: TrustPolicy = .system,
      identity: ClientIdentity? = nil, adjustPlatform: (@Sendable (URLSessionConfiguration) -> Void)? = nil
    ) {
      self.maximumConnectionsPerHost = maximumConnectionsPerHost
      self.handlesCookies = handlesCookies
      self.trust = trust
      self.identity = identity
      self.adjustPlatform = adjustPlatform
    }
  }
}

extension URLSessionTransport {
  /// The requests that may use a connection that has served others.
  public struct ConnectionReuse: Sendable, Hashable {
    private enum Kind { case all, safe, never }

    private let kind: Kind

    /// All requests, as URLSession decides.
    public static let all = ConnectionReuse(kind: .all)

    /// Requests with a safe method, such as `GET` (RFC 9110 §9.2.1).
    ///
    /// Each other request has a connection of its own, so that no stray response is taken for the server's consent to a
    /// change.
    public static let safeRequests = ConnectionReuse(kind: .safe)

    /// No request: each has a connection of its own.
    public static let never = ConnectionReuse(kind: .never)

    func includes(_ method: RequestMethod) -> Bool { kind == .all || kind == .safe && method.isSafe }
  }
}

extension URLSessionTransport.Configuration {
  package func makePlatformConfiguration() -> URLSessionConfiguration { makePlatform().configuration }

  /// Makes the platform's settings, and tells whether the cookies are in a storage of the transport's own.
  func makePlatform() -> (configuration: URLSessionConfiguration, hasOwnCookies: Bool) {
    let platform = URLSessionConfiguration.ephemeral
    let cookies = platform.httpCookieStorage
    adjustPlatform?(platform)
    let hasOwnCookies = platform.httpCookieStorage === cookies
    // With a cache, cancelling a task crashes the process on Linux. The cache stores nothing there anyway.
    platform.urlCache = nil
    platform.requestCachePolicy = .reloadIgnoringLocalCacheData
    platform.urlCredentialStorage = nil
    platform.httpMaximumConnectionsPerHost = max(maximumConnectionsPerHost, 1)
    platform.httpAdditionalHeaders = nil
    platform.timeoutIntervalForRequest = URLRequest.longestTimeout
    platform.timeoutIntervalForResource = URLRequest.longestTimeout
    if !handlesCookies {
      platform.httpCookieStorage = nil
      platform.httpShouldSetCookies = false
      // Otherwise every header line is parsed for cookies, at a fifth of the throughput.
      platform.httpCookieAcceptPolicy = .never
    }
    return (platform, hasOwnCookies)
  }

  /// The error of every send if the settings cannot be obeyed; `nil` if they can.
  var objection: NetworkError? {
    #if canImport(FoundationNetworking)
      guard trust.isSystem else {
        return NetworkError(
          .unsupportedTrust,
          "URLSession on Linux trusts the servers that the system trusts and no others; leave trust out, or use another "
            + "transport")
      }
      guard identity == nil else {
        return NetworkError(
          .unsupportedTrust,
          "URLSession on Linux cannot show servers an identity; leave identity out, or use another transport")
      }
    #else
      if case .certificates? = identity?.content { return .identityNeedsPKCS12() }
    #endif
    return nil
  }
}

extension NetworkError {
  /// Returns the error for an identity of which the system makes one only in the keychain.
  static func identityNeedsPKCS12() -> NetworkError {
    NetworkError(
      .unsupportedTrust, "URLSession takes an identity in PKCS #12 only; make one with openssl pkcs12 -export")
  }
}
