#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLSessionTransport {
  /// The settings of a ``URLSessionTransport``.
  public struct Configuration: Sendable {
    /// The most connections to one host at a time, at least 1; further requests wait for one of them.
    ///
    /// By default 128, so that the platform's own limit of 6 holds nobody up.
    public var maximumConnectionsPerHost: Int

    /// Which requests may go over a connection that has served others; all of them by default.
    ///
    /// What a server sends unasked over an idle connection becomes the response to the next request over it: URLSession
    /// lets nobody look before. A connection that serves one request has no such response, and costs its making, with TLS
    /// a handshake. See ``ConnectionReuse``.
    public var connectionReuse = ConnectionReuse.all

    /// Whether cookies that servers set are kept, in memory, and sent back; false by default.
    ///
    /// If so, they replace a `Cookie` field of a request on Linux. All clients over the transport share them.
    /// ``NetworkClient/reset()`` and every sign-out of a session that is used with the transport forget them. For a cache
    /// such a cookie is a credential: see <doc:Caching>.
    public var handlesCookies: Bool

    /// Which servers are trusted; those that the system trusts by default.
    ///
    /// On Linux any other policy fails every send with ``NetworkError/Code-swift.struct/unsupportedTrust``: URLSession
    /// asks nobody there.
    public var trust: TrustPolicy

    /// What shows a server who the client is, if it asks; none by default.
    ///
    /// On Linux it fails every send with ``NetworkError/Code-swift.struct/unsupportedTrust``.
    public var identity: ClientIdentity?

    /// Where streamed responses keep what their readers lag behind; 512 KiB in memory and 1 GiB in all by default.
    public var spool = BodySpool(memoryLimit: 512 * 1_024, limit: 1 << 30)

    /// Where the streams of requests' bodies are kept until they are sent; 256 KiB in memory and 4 GiB in all by default.
    public var uploadSpool = BodySpool()

    /// Changes the platform's settings: proxies, the use of cellular or constrained networks, the least version of TLS,
    /// protocol classes, and others; called once, when the transport is made.
    ///
    /// ```swift
    /// let configuration = URLSessionTransport.Configuration {
    ///   $0.allowsCellularAccess = false
    /// }
    /// ```
    ///
    /// On Linux import `FoundationNetworking` for it. It gets an ephemeral configuration; there are no background
    /// sessions. What the transport promises is set after it:
    ///
    /// | setting | value | why |
    /// |---|---|---|
    /// | `urlCache`, `requestCachePolicy` | none | a transport caches nothing; on Linux a cache ends the process |
    /// | `urlCredentialStorage` | none | credentials are the behaviors' |
    /// | `httpMaximumConnectionsPerHost` | ``maximumConnectionsPerHost`` | it stands beside |
    /// | cookies, unless ``handlesCookies`` | none | one user's must not be another's |
    /// | `httpAdditionalHeaders` | none | they would go to any host, and no log would show them; use ``HeadersBehavior`` |
    /// | `timeoutIntervalForRequest`, `timeoutIntervalForResource` | weeks | the transport's own clock decides |
    ///
    /// With `waitsForConnectivity` the idle timeout runs while URLSession waits.
    public var adjustPlatform: (@Sendable (URLSessionConfiguration) -> Void)?

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - maximumConnectionsPerHost: The most connections to one host at a time.
    ///   - handlesCookies: Whether cookies are kept and sent back.
    ///   - trust: Which servers are trusted.
    ///   - identity: What shows a server who the client is.
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
  /// Which requests may go over a connection that has served others.
  public struct ConnectionReuse: Sendable, Hashable {
    private enum Kind { case all, safe, never }

    private let kind: Kind

    /// All requests, as URLSession sees fit.
    public static let all = ConnectionReuse(kind: .all)

    /// Requests with a safe method, such as `GET` (RFC 9110 §9.2.1).
    ///
    /// Each of the others has a connection of its own, so that no stray response passes for the server's consent to a
    /// change.
    public static let safeRequests = ConnectionReuse(kind: .safe)

    /// None: each request has a connection of its own.
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
    // With a cache, cancelling a task ends the process on Linux; it never stores anything there anyway.
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
      // Else every header line is parsed for cookies, at a fifth of the throughput.
      platform.httpCookieAcceptPolicy = .never
    }
    return (platform, hasOwnCookies)
  }

  /// Why no send can obey the settings; `nil` if each can.
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
    #endif
    return nil
  }
}
