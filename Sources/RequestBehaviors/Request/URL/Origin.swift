public import Foundation

/// A scheme, host and port: the unit to which credentials are bound (RFC 6454 §4).
///
/// Two URLs of one origin differ in path, query or fragment only. An absent port equals the default port of the scheme.
/// Scheme and host are compared regardless of case. Escapes in a host are undone, and a name of another script is
/// compared by its ASCII form (`xn--…`). An IPv6 address is compared by the form of RFC 5952.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// Shared by all copies, because an origin is compared for every credential of every request.
  private let parts: Parts

  private final class Parts: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int
    /// Computed once, because an origin is the key of every limit, budget and breaker.
    private let hash: Int

    init(scheme: String, host: String, port: Int) {
      self.scheme = scheme
      self.host = host
      self.port = port
      var hasher = Hasher()
      hasher.combine(scheme)
      hasher.combine(host)
      hasher.combine(port)
      hash = hasher.finalize()
    }

    static func == (left: Parts, right: Parts) -> Bool {
      left === right || (left.host == right.host && left.port == right.port && left.scheme == right.scheme)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// The scheme in lower case, `http` or `https`.
  public var scheme: String { parts.scheme }

  /// The host in lower case and in ASCII; an IPv6 address without its brackets.
  public var host: String { parts.host }

  /// The port; the scheme's default if the URL names none.
  public var port: Int { parts.port }

  /// Creates the origin of a URL.
  ///
  /// - Returns: `nil` if the URL has no host or a scheme other than `http` and `https`.
  public init?(_ url: URL) {
    guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: true), !host.isEmpty else {
      return nil
    }
    guard let defaultPort = Origin.defaultPort(of: scheme) else { return nil }
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    parts = Parts(scheme: scheme, host: HostName.canonical(bare), port: url.port ?? defaultPort)
  }

  /// Creates the origin of a URL in a string, such as `"https://api.example.com"`.
  ///
  /// - Returns: `nil` if the string is not an absolute http or https URL.
  public init?(_ string: String) {
    guard let url = URL(string: string) else { return nil }
    self.init(url)
  }

  /// The origin as in an `Origin` header: without the port if it is the scheme's default.
  public var description: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == Origin.defaultPort(of: scheme) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
  }

  private static func defaultPort(of scheme: String) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
