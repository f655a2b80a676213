public import Foundation

/// A server: its base URL, and the headers and query items that every request to it has.
///
/// ```swift
/// extension ServerEnvironment {
///   static let staging = ServerEnvironment(
///     baseURL: stagingURL, headers: ["X-Stage": "1"])
/// }
/// ```
///
/// A request or a configuration chooses it:
///
/// ```swift
/// try await client.send(.get("status").with(\.environment, .staging))
/// ```
///
/// The base path is a directory. `https://h/v1` and `https://h/v1/` are the same base, and both `users` and `/users`
/// become `https://h/v1/users`. A base URL that is not absolute http or https, or that has a user name, fails with
/// ``NetworkError/Code-swift.struct/invalidURL`` when a request is sent.
public struct ServerEnvironment: Sendable, Hashable {
  /// The URL that paths are appended to.
  public var baseURL: URL { base.url }

  /// Fields for every request to this server, unless the request sets them.
  ///
  /// A field that is marked sensitive for ``OriginScope/baseURL``, or whose name means a credential, is bound to this
  /// base URL's origin.
  public var headers: HeaderFields

  /// Items that come before the query of every request to this server.
  public var query: Query

  /// The base URL with its parts, parsed once.
  let base: BaseURL

  /// Creates an environment.
  ///
  /// - Parameters:
  ///   - baseURL: An absolute http or https URL; its path is a directory, its query is kept.
  ///   - headers: Fields for every request; none by default.
  ///   - query: Items for every request; none by default.
  public init(baseURL: URL, headers: HeaderFields = HeaderFields(), query: Query = Query()) {
    self.headers = headers
    self.query = query
    self.base = BaseURL(baseURL)
  }

  /// The origin of the base URL; `nil` if the URL is not absolute http or https.
  public var origin: Origin? { base.origin }

  /// The path of the base URL, percent-encoded as it was given, such as `/v1`; empty if the URL has none.
  public var basePath: String { base.path }

  /// The headers, with credentials and secrets of ``OriginScope/baseURL`` bound to this environment's origin.
  var boundHeaders: HeaderFields {
    guard let origin, !headers.isEmpty else { return headers }
    var bound = HeaderFields(
      headers.map { field in
        var bound = field
        if field.sensitivity == .baseURL { bound.sensitivity = .only([origin]) }
        return bound
      })
    bound.markCredentials(as: .only([origin]))
    return bound
  }
}

extension URLResolution {
  /// Returns the URL for a path of a server.
  ///
  /// - Throws: ``NetworkError`` of code `invalidURL` that names the value and the rule.
  static func resolve(_ path: RequestPath, query: Query, in environment: ServerEnvironment?) throws -> URL {
    try resolve(path, query: query, below: environment?.base, with: environment?.query ?? Query())
  }
}
