#if canImport(CRequestBehaviorsCurl)
  public import Foundation
  import RequestBehaviors

  extension CurlTransport {
    /// The proxy that requests go through.
    ///
    /// No description of it shows the user's name or password.
    public struct Proxy: Sendable, Hashable {
      enum Kind: Hashable {
        case none
        case environment
        case url(URL, user: String?, password: String?)
      }

      let kind: Kind

      /// No proxy.
      public static let none = Proxy(kind: .none)

      /// The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name when a connection is made.
      ///
      /// All but `http_proxy` may be in upper case, too.
      public static let environment = Proxy(kind: .environment)

      /// A proxy for every request.
      ///
      /// Requests to `https` URLs are tunnelled, so that the proxy cannot read them.
      ///
      /// - Parameters:
      ///   - url: The proxy's URL, without a user. Its scheme is `http`, `https`, `socks5`, or `socks5h`, which lets
      ///     the proxy resolve names. Without a port it is 443 for `https` and 1080 for all others.
      ///   - user: The user's name for the proxy; `nil` by default. For `http` and `https` it has no colon.
      ///   - password: The password for the proxy; `nil` by default. It needs a user.
      /// - Returns: The proxy.
      /// - Throws: `NetworkError` of code `invalidURL`; also if the user or password has a control character.
      public static func url(_ url: URL, user: String? = nil, password: String? = nil) throws -> Proxy {
        guard let scheme = url.scheme?.lowercased(), ["http", "https", "socks5", "socks5h"].contains(scheme),
          url.host(percentEncoded: true)?.isEmpty == false
        else {
          throw NetworkError(.invalidURL, "the proxy's URL has no host, or a scheme other than http, https and socks5")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
          throw NetworkError(.invalidURL, "the proxy's URL has a user in it; give user and password beside it")
        }
        try check(user, password, isBasic: scheme.hasPrefix("http"))
        return Proxy(kind: .url(url, user: user, password: password))
      }

      /// Refuses credentials that would reach the proxy as others.
      private static func check(_ user: String?, _ password: String?, isBasic: Bool) throws {
        func refuse(_ reason: String) throws -> Never { throw NetworkError(.invalidURL, "the proxy's \(reason)") }
        // libcurl sends no password without a user.
        if user == nil, password != nil { try refuse("password has no user; give an empty one if it has no name") }
        // libcurl cuts a text off at a NUL, and no proxy takes other control characters (RFC 7617 §2).
        if [user, password].contains(where: { $0?.utf8.contains(where: \.isASCIIControl) == true }) {
          try refuse("user or password has a control character")
        }
        guard isBasic, user?.utf8.contains(UInt8(ascii: ":")) == true else { return }
        try refuse("user has a colon, where the password would begin (RFC 7617 §2)")
      }

      /// The host, in lower case, of a proxy that is reached over TLS and has a URL.
      var securedHost: String? {
        guard case .url(let url, _, _) = kind, url.scheme?.lowercased() == "https" else { return nil }
        return url.host(percentEncoded: true)?.lowercased()
      }

      /// The host and port of a proxy with a URL; without the port if libcurl chooses it.
      var hostAndPort: String? {
        guard case .url(let url, _, _) = kind, let host = url.host(percentEncoded: true) else { return nil }
        let name = host.contains(":") ? "[\(host)]" : host
        return url.port.map { "\(name):\($0)" } ?? name
      }

      /// The hint for a connection that could not be made, if the environment names a proxy that is not used.
      var connectionHint: String? {
        let environment = ProcessInfo.processInfo.environment
        guard self == .none, let name = ProxyCredentials.names.first(where: { environment[$0]?.isEmpty == false })
        else { return nil }
        return "the environment's \(name) is not obeyed; set the transport's proxy to .environment if it is needed"
      }
    }
  }

  extension CurlTransport.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, or the host of a proxy.
    public var description: String {
      switch kind {
      case .none: "no proxy"
      case .environment: "the environment's proxy"
      case .url(let url, _, _): "the proxy \(url.host(percentEncoded: true) ?? "")"
      }
    }

    /// The description, because dumping a proxy must not show its password.
    public var debugDescription: String { description }

    /// A mirror with the description only.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }
#endif
