#if canImport(FoundationNetworking)
  import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

extension URLSessionTransport {
  /// The settings of a ``URLSessionTransport``.
  public struct Configuration: Sendable {
    /// The most connections to one host at a time, at least 1; further requests wait for one of them.
    ///
    /// By default 128, so that the platform's own limit of 6 holds nobody up.
    public var maximumConnectionsPerHost: Int

    /// Whether cookies that servers set are kept, in memory, and sent back; false by default.
    ///
    /// If so, they replace a `Cookie` field of a request on Linux.
    public var handlesCookies: Bool

    /// Creates settings.
    public init(maximumConnectionsPerHost: Int = 128, handlesCookies: Bool = false) {
      self.maximumConnectionsPerHost = maximumConnectionsPerHost
      self.handlesCookies = handlesCookies
    }
  }
}

extension URLSessionTransport.Configuration {
  package func makePlatformConfiguration() -> URLSessionConfiguration {
    let platform = URLSessionConfiguration.ephemeral
    // With a cache, cancelling a task ends the process on Linux; it never stores anything there anyway.
    platform.urlCache = nil
    platform.requestCachePolicy = .reloadIgnoringLocalCacheData
    platform.urlCredentialStorage = nil
    platform.httpMaximumConnectionsPerHost = max(maximumConnectionsPerHost, 1)
    if !handlesCookies {
      platform.httpCookieStorage = nil
      platform.httpShouldSetCookies = false
      // Else every header line is parsed for cookies, at a fifth of the throughput.
      platform.httpCookieAcceptPolicy = .never
    }
    return platform
  }
}
