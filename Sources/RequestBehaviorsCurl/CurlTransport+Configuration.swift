#if canImport(CRequestBehaviorsCurl)
  public import RequestBehaviors

  extension CurlTransport {
    /// The settings of a ``CurlTransport``.
    ///
    /// ```swift
    /// var settings = CurlTransport.Configuration()
    /// settings.httpVersion = .http2OverTLS
    /// settings.minimumTLSVersion = .tls13
    /// let transport = CurlTransport(configuration: settings)
    /// ```
    ///
    /// Nothing is taken from the environment or from files of the user: no proxy, no `.netrc`, no cookies. (The library
    /// beneath writes the keys of its connections to the file that `SSLKEYLOGFILE` names, if it was built to.)
    public struct Configuration: Sendable {
      /// The most connections to one host at a time, at least 1; by default 128.
      ///
      /// Further requests wait for one of them.
      public var maximumConnectionsPerHost = 128

      /// The most connections in all, at least 1; by default `nil`: as many as are needed.
      ///
      /// Further requests wait for one of them.
      public var maximumConnections: Int?

      /// How long a connection may be idle and then be used again; by default 118 seconds.
      ///
      /// Servers close idle connections after a time; less than theirs spares a request that fails. Fractions of a second
      /// are dropped. With less than two seconds, or zero, a connection serves one request.
      public var idleConnectionLifetime: Duration = .seconds(118)

      /// How long after it was made a connection is used for further requests; by default `nil`: for ever.
      ///
      /// Fractions of a second are dropped. With less than two seconds a connection serves one request.
      public var connectionLifetime: Duration?

      /// How long a host's address is remembered; by default 60 seconds, zero for not at all.
      ///
      /// Fractions of a second are dropped.
      public var nameLifetime: Duration = .seconds(60)

      /// The version of HTTP; 1.1 by default.
      public var httpVersion = HTTPVersion.http1

      /// The least version of TLS; 1.2 by default.
      public var minimumTLSVersion = TLSVersion.tls12

      /// Whether a body that ends with its connection over TLS must end with a closure alert; true by default.
      ///
      /// A response without `Content-Length` and chunks is as long as its connection. Without the alert, whoever can cut
      /// the connection can cut the response, so it is incomplete (RFC 9112 §9.8): the send fails with `NetworkError` of
      /// code `truncatedBody`. Set it to false for an old server that sends none. It needs a libcurl over OpenSSL 3;
      /// another library for TLS decides for itself.
      public var requiresTLSClosure = true

      /// Which servers are trusted; those that the system trusts by default.
      ///
      /// Pins are compared with the key of the server's own certificate, not with those of its authorities: a host with
      /// no other pin than an authority's cannot be reached. A policy with a closure fails every send with `NetworkError`
      /// of code `unsupportedTrust`.
      public var trust = TrustPolicy.system

      /// What shows a server who the client is, if it asks; none by default.
      public var identity: ClientIdentity?

      /// What requests go through; nothing by default, whatever the environment says.
      public var proxy = Proxy.none

      /// The value of `User-Agent` where a request has none of its own; `nil` for no such field.
      public var userAgent: String? = "RequestBehaviors"

      /// Whether a cancelled transfer may go while its host's name is being resolved, where the library can do so.
      package var leavesResolverBehind = true

      /// Creates the default settings.
      public init() {}

      /// Creates settings.
      ///
      /// - Parameters:
      ///   - trust: Which servers are trusted.
      ///   - identity: What shows a server who the client is.
      ///   - proxy: What requests go through.
      ///   - httpVersion: The version of HTTP.
      public init(
        trust: TrustPolicy = .system, identity: ClientIdentity? = nil, proxy: Proxy = .none,
        httpVersion: HTTPVersion = .http1
      ) {
        self.trust = trust
        self.identity = identity
        self.proxy = proxy
        self.httpVersion = httpVersion
      }
    }

    /// A version of HTTP.
    public struct HTTPVersion: Sendable, Hashable {
      let usesHTTP2: Bool

      /// HTTP/1.1 for everything.
      public static let http1 = HTTPVersion(usesHTTP2: false)

      /// HTTP/2 where a server offers it over TLS (RFC 9113 §3.2), else HTTP/1.1.
      ///
      /// Requests to a host share a connection. While the reader of a stream is slow, as much as 32 MiB of it may be kept,
      /// because the connection is read for the others.
      public static let http2OverTLS = HTTPVersion(usesHTTP2: true)
    }

    /// A version of TLS.
    public struct TLSVersion: Sendable, Hashable {
      let minor: Int

      /// TLS 1.2 (RFC 5246).
      public static let tls12 = TLSVersion(minor: 2)
      /// TLS 1.3 (RFC 8446).
      public static let tls13 = TLSVersion(minor: 3)
    }
  }
#endif
