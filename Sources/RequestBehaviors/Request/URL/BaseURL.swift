import Foundation

/// A base URL with the parts from which request URLs are built.
///
/// A class, because every request copies its environment out of the options.
final class BaseURL: Sendable, Hashable {
  let url: URL
  /// Scheme and authority, such as `https://h:8443`.
  let prefix: String
  /// The encoded path as it was given.
  let path: String
  /// The text that plain paths are appended to; `nil` if the base URL needs the general method.
  let directory: String?
  /// The encoded query, if there is one.
  let query: String?
  let origin: Origin?
  /// The error text for an invalid URL; `nil` if the URL is valid.
  let problem: String?

  init(_ url: URL) {
    self.url = url
    problem = URLResolution.problem(of: url).map { "the base URL \($0)" }
    let origin = Origin(url)
    self.origin = problem == nil ? origin : nil
    prefix = origin.map { URLResolution.prefix(of: $0) } ?? ""
    let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
    let path = components?.percentEncodedPath ?? ""
    let query = components?.percentEncodedQuery
    (self.path, self.query) = (path, query)
    let isPlain = problem == nil && query == nil && !path.contains(".")
    directory = isPlain ? prefix + (path.hasSuffix("/") ? path : path + "/") : nil
  }

  // The URL determines all other parts.
  static func == (left: BaseURL, right: BaseURL) -> Bool { left.url == right.url }

  func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
