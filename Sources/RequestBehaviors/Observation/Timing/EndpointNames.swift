import Foundation

/// Limits the number of distinct endpoint names, because each costs memory in every metric that has it as a label.
///
/// The paths of requests made from URLs are names too, and servers can create an unlimited number of such URLs.
struct EndpointNames: Sendable {
  static let other = "(other)"

  private let limit: Int
  private var known: Set<String> = []

  init(limit: Int) { self.limit = max(0, limit) }

  /// Returns the name of the endpoint; ``other`` if too many names are known.
  mutating func name(for request: NetworkRequest?) -> String {
    guard let request else { return EndpointNames.other }
    let name = "\(EndpointNames.method(request.method)) \(request.endpoint)"
    if known.contains(name) { return name }
    guard known.count < limit else { return EndpointNames.other }
    known.insert(name)
    return name
  }

  /// Returns the template of the full path, such as `/v1/users/{}`; ``other`` if too many are known.
  mutating func template(for request: NetworkRequest?) -> String {
    guard let request else { return EndpointNames.other }
    let template = EndpointNames.template(of: request)
    if known.contains(template) { return template }
    guard known.count < limit else { return EndpointNames.other }
    known.insert(template)
    return template
  }

  /// Returns the path's template, with the path of the base URL before a relative one.
  static func template(of request: NetworkRequest) -> String {
    if request.endpoint.hasPrefix("/") { return request.endpoint }
    let base = request.call.options.environment?.baseURL.path(percentEncoded: true) ?? ""
    return base.hasSuffix("/") ? base + request.endpoint : base + "/" + request.endpoint
  }

  /// Returns a standard method unchanged, and `_OTHER` for any other, as the semantic conventions require.
  static func method(_ method: RequestMethod) -> String {
    switch method {
    case .get, .head, .post, .put, .patch, .delete, .options, .trace, .query: method.rawValue
    default: "_OTHER"
    }
  }
}
