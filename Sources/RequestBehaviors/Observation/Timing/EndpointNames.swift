import Foundation

/// Limits the number of distinct endpoint names, because each costs memory in every metric that has it as a label.
///
/// Servers can create an unlimited number of URLs. So a request that was made from a URL has a name without the parts
/// that look like identifiers, and on another origin than the client's only the host as its name.
struct EndpointNames: Sendable {
  static let other = "(other)"

  private let limit: Int
  private var known: Set<String> = []

  init(limit: Int) { self.limit = max(0, limit) }

  /// Returns the name of the endpoint; ``other`` if too many names are known.
  mutating func name(for request: NetworkRequest?) -> String {
    guard let request else { return EndpointNames.other }
    let name = "\(EndpointNames.method(request.method)) \(EndpointNames.place(of: request))"
    if known.contains(name) { return name }
    guard known.count < limit else { return EndpointNames.other }
    known.insert(name)
    return name
  }

  /// Returns the template of the full path, such as `/v1/users/{}`; ``other`` if too many are known.
  mutating func template(for request: NetworkRequest?) -> String {
    guard let request else { return EndpointNames.other }
    let template = EndpointNames.limitedTemplate(of: request)
    if known.contains(template) { return template }
    guard known.count < limit else { return EndpointNames.other }
    known.insert(template)
    return template
  }

  /// Returns the template; for a request made from a URL the path without identifiers, or the host of another origin.
  private static func place(of request: NetworkRequest) -> String {
    guard isMadeFromURL(request) else { return withoutTokens(request.endpoint) }
    return isForeign(request) ? request.origin?.host ?? other : withoutIdentifiers(request.endpoint)
  }

  private static func limitedTemplate(of request: NetworkRequest) -> String {
    guard isMadeFromURL(request) else { return withoutTokens(template(of: request)) }
    return isForeign(request) ? "/{}" : withoutIdentifiers(request.endpoint)
  }

  /// Whether the template is the path of the URL itself.
  private static func isMadeFromURL(_ request: NetworkRequest) -> Bool {
    request.endpoint.hasPrefix("/") && request.endpoint == request.url.path(percentEncoded: true)
  }

  private static func isForeign(_ request: NetworkRequest) -> Bool { request.origin != request.call.baseOrigin }

  /// Returns the path with `{}` for each segment that looks like an identifier: a number, a UUID, a hash or a token.
  private static func withoutIdentifiers(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      let bytes = segment.utf8
      let isNumber = bytes.count >= 3 && bytes.allSatisfy { (0x30...0x39).contains($0) }
      let hasDigit = bytes.contains { (0x30...0x39).contains($0) }
      let isHash = bytes.count >= 16 && hasDigit && segment.allSatisfy { $0.isHexDigit || $0 == "-" }
      return isNumber || isHash || holdsToken(segment) ? "{}" : String(segment)
    }.joined(separator: "/")
  }

  /// Returns the path with `{}` for each segment with a JSON Web Token: a request that was made from a URL keeps its
  /// path as its template although a behavior changes the URL.
  private static func withoutTokens(_ path: String) -> String {
    guard holdsToken(path[...]) else { return path }
    return path.split(separator: "/", omittingEmptySubsequences: false)
      .map { holdsToken($0) ? "{}" : String($0) }.joined(separator: "/")
  }

  /// Whether a text has a JSON Web Token, which is shown nowhere.
  private static func holdsToken(_ text: Substring) -> Bool {
    // Each begins with `{"` in Base64, which is `eyJ`. Few paths are long enough for one, and fewer have this letter.
    guard text.utf8.count >= 20, text.utf8.contains(UInt8(ascii: "J")) else { return false }
    return Redactor.standard.redact(text: String(text)) != text
  }

  /// Returns the path's template, with the path of the base URL before a relative one.
  static func template(of request: NetworkRequest) -> String {
    let (endpoint, slash) = (request.endpoint, UInt8(ascii: "/"))
    if endpoint.utf8.first == slash { return endpoint }
    let base = request.call.options.environment?.basePath ?? ""
    return base.utf8.last == slash ? "\(base)\(endpoint)" : "\(base)/\(endpoint)"
  }

  /// Returns a standard method unchanged, and `_OTHER` for any other, as the semantic conventions require.
  static func method(_ method: RequestMethod) -> String {
    switch method {
    case .get, .head, .post, .put, .patch, .delete, .options, .trace, .query: method.rawValue
    default: "_OTHER"
    }
  }
}
