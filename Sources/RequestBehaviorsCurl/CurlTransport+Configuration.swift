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
    /// By default the transport reads nothing from the environment or from the user's files: no proxy, no `.netrc`, no
    /// cookies. (The TLS library writes the keys of its connections to the file that `SSLKEYLOGFILE` names, if it was
    /// built to.)
    public struct Configuration: Sendable {
      /// The maximum number of connections to one host at a time, at least 1; by default 128.
      ///
      /// Further requests wait for one of them.
      public var maximumConnectionsPerHost = 128

      /// The maximum number of connections in total, at least 1; by default `nil`, which means no limit.
      ///
      /// Further requests wait for one of them.
      public var maximumConnections: Int?

      /// How long an idle connection is kept for reuse; by default 118 seconds.
      ///
      /// Servers close idle connections after a time. A shorter time here avoids requests that fail for that reason.
      /// Fractions of a second are dropped. With less than two seconds, a connection serves one request.
      public var idleConnectionLifetime: Duration = .seconds(118)

      /// The age up to which a connection is used for further requests; by default `nil`, which means no limit.
      ///
      /// Fractions of a second are dropped. With less than two seconds a connection serves one request.
      public var connectionLifetime: Duration?

      /// How long a host's address is cached; by default 60 seconds.
      ///
      /// Zero means not at all.
      ///
      /// Fractions of a second are dropped.
      public var nameLifetime: Duration = .seconds(60)

      /// The version of HTTP; 1.1 by default.
      public var httpVersion = HTTPVersion.http1

      /// The minimum version of TLS; 1.2 by default.
      public var minimumTLSVersion = TLSVersion.tls12

      /// Whether a body that ends with its connection over TLS must end with a closure alert; true by default.
      ///
      /// A response without `Content-Length` and chunks ends with its connection. Without the alert, an attacker who
      /// can cut the connection can cut the response. So the response counts as incomplete (RFC 9112 §9.8), and the
      /// send fails with `NetworkError` of code `truncatedBody`. Set it to false for an old server that sends no alert.
      /// The setting needs a libcurl over OpenSSL 3; another TLS library decides for itself.
      public var requiresTLSClosure = true

      /// The rules of which servers are trusted; by default those of the system.
      ///
      /// Pins are compared with the key of the server's own certificate, not with the keys of its authorities. A host
      /// for which only authorities are pinned cannot be reached. A policy with a closure fails every send with
      /// `NetworkError` of code `unsupportedTrust`.
      public var trust = TrustPolicy.system

      /// The certificate and key that identify the client to a server that asks; `nil` by default.
      public var identity: ClientIdentity?

      /// The proxy for all requests; none by default, even if the environment names one.
      public var proxy = Proxy.none

      /// The path of a Unix domain socket that all connections are made to, such as `/run/docker.sock`; `nil`, the
      /// default, to connect to the URL's host.
      ///
      /// The URL still decides about the `Host` field and TLS. No proxy is used. A path that is empty, has a NUL or
      /// is too long for the system fails the send with `NetworkError` of code `refusedOption`.
      ///
      /// ```swift
      /// var settings = CurlTransport.Configuration()
      /// settings.unixSocketPath = "/run/docker.sock"
      /// let engine = NetworkClient(
      ///   baseURL: URL(string: "http://localhost/v1.44")!,
      ///   transport: .curl(settings))
      /// ```
      public var unixSocketPath: String?

      /// The value of `User-Agent` for requests that do not set it; `nil` for no such field.
      ///
      /// A value with control characters fails each send with `NetworkError` of code `refusedOption`.
      public var userAgent: String? = "RequestBehaviors"

      /// Called with the time that a part of the work on the transport's thread took, if that was more than 10
      /// milliseconds (`CurlTransport.run(_:)`); all transfers waited meanwhile.
      ///
      /// By default a debug build writes a line to standard error, and a release build measures nothing. It is called
      /// on the transport's thread.
      public var blockingReport: (@Sendable (Duration) -> Void)? = CurlTransport.defaultBlockingReport

      /// Whether a cancelled transfer may end while its host's name is being resolved, if the library supports that.
      package var leavesResolverBehind = true

      /// Creates the default settings.
      public init() {}

      /// Creates settings.
      ///
      /// - Parameters:
      ///   - trust: The rules of which servers are trusted.
      ///   - identity: The certificate and key that identify the client.
      ///   - proxy: The proxy for all requests.
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
      /// Whether a connection may carry several requests at a time.
      let multiplexes: Bool

      /// HTTP/1.1 for all requests.
      public static let http1 = HTTPVersion(usesHTTP2: false, multiplexes: false)

      /// HTTP/2 if a server offers it over TLS (RFC 9113 §3.2), or else HTTP/1.1.
      ///
      /// From libcurl 8.1 on, requests to a host share a connection. If the reader of a stream is slow, up to 32 MiB of
      /// the stream may be buffered, because the connection is still read for the other requests. Before libcurl 8.1 a
      /// connection carries one request at a time, as over HTTP/1.1: these versions lose bytes of shared connections.
      public static let http2OverTLS = HTTPVersion(usesHTTP2: true, multiplexes: CurlLibrary.canMultiplex)
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
