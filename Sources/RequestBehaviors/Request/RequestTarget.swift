import Foundation

/// The path or the URL of a request as users write it.
enum RequestTarget: Sendable {
  case path(RequestPath)
  /// A full URL; without a template of its own, its path names the endpoint.
  case url(URL, template: String? = nil)

  /// Returns the target without the items of its own query that have a name.
  func removing(queryItem name: String) -> RequestTarget {
    switch self {
    case .path(let path): return .path(path.removing(queryItem: name))
    case .url(let url, let template):
      guard let query = url.query(percentEncoded: true) else { return self }
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
      parts?.percentEncodedQuery = Query.removing(name, from: query)
      return parts?.url.map { .url($0, template: template) } ?? self
    }
  }
}
