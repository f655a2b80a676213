import Foundation
import RequestBehaviors

/// The rules for the URLs of a server and of an app.
enum EndpointRules {
  /// Whether a URL is https, or http on this machine.
  static func isSecure(_ url: URL) -> Bool {
    switch url.scheme?.lowercased() {
    case "https": url.host()?.isEmpty == false
    case "http": isLoopback(url)
    default: false
    }
  }

  /// Whether the host of a URL is this machine.
  static func isLoopback(_ url: URL) -> Bool {
    ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host()?.lowercased() ?? "")
  }

  /// Checks the URL of an endpoint (RFC 6749 §3.1, §3.2).
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer`.
  static func check(_ url: URL, as name: String) throws {
    guard isSecure(url) else {
      throw NetworkError.invalidServer("\(name) must be https, or http on this machine: \(shown(url.absoluteString))")
    }
    guard url.fragment() == nil else {
      throw NetworkError.invalidServer("\(name) must have no fragment (RFC 6749 §3.1): \(shown(url.absoluteString))")
    }
  }

  /// The schemes that mean something else to browsers and systems.
  private static let refusedSchemes: Set<String> = [
    "javascript", "data", "file", "blob", "about", "vbscript", "ws", "wss", "ftp", "mailto", "urn",
  ]

  /// Checks a redirect URI (RFC 6749 §3.1.2, RFC 8252 §7).
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer`.
  static func checkRedirect(_ url: URL) throws {
    let text = shown(url.absoluteString)
    guard let scheme = url.scheme?.lowercased(), !refusedSchemes.contains(scheme) else {
      throw NetworkError.invalidServer("the redirect URI must have a scheme that an app can own: \(text)")
    }
    guard url.fragment() == nil, url.user() == nil, url.password() == nil else {
      throw NetworkError.invalidServer(
        "the redirect URI must have no fragment and no user information (RFC 6749 §3.1.2): \(text)")
    }
    guard !["http", "https"].contains(scheme) || isSecure(url) else {
      throw NetworkError.invalidServer("a redirect URI of http must be on this machine (RFC 8252 §7.3): \(text)")
    }
    if let name = FormPairs(url.query(percentEncoded: true) ?? "").names.first(where: OAuth2Callback.reads) {
      throw NetworkError.invalidServer("the redirect URI must not have the parameter \(name) already")
    }
  }

  /// A URL for a message: without user, password, query and fragment, on one line, shortened.
  static func shown(_ url: String) -> String {
    let text = Redactor.standard.redact(urlReference: url).prefix { $0 != "?" && $0 != "#" }.prefix(200)
    return String(text.map { $0.isASCII && !$0.isNewline && $0 >= " " ? $0 : "?" })
  }
}
