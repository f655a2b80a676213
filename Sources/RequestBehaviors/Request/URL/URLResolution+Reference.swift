import Foundation

extension URLResolution {
  /// Returns the target of a server's reference, resolved by RFC 3986 §5; `..` above the root is dropped.
  ///
  /// - Parameters:
  ///   - reference: An absolute URL or a relative reference; illegal characters in it are escaped.
  ///   - base: The URL that the reference is relative to.
  ///   - keepsFragment: Whether a reference without a fragment takes that of the base, as a redirect does.
  /// - Returns: The URL.
  /// - Throws: ``NetworkError`` of code `invalidURL` if the result is not an http or https URL.
  static func resolve(reference: String, relativeTo base: URL, keepsFragment: Bool = true) throws -> URL {
    let text = PercentEncoding.repair(reference) { PercentEncoding.isQueryCharacter($0) || "#[]".utf8.contains($0) }
    guard let components = URLComponents(string: text) else {
      throw NetworkError(.invalidURL, "the location is not a URL reference")
    }
    let url = try components.resolved(against: base, keepsFragment: keepsFragment)
    return try check(url, dropsParentsOfRoot: true)
  }
}

extension URLComponents {
  /// Resolves this reference against a base (RFC 3986 §5.2.2), except for dot segments.
  fileprivate func resolved(against base: URL, keepsFragment: Bool) throws -> URL {
    guard var target = URLComponents(url: base, resolvingAgainstBaseURL: true) else {
      throw NetworkError(.invalidURL, "the base has no parts")
    }
    let baseFragment = keepsFragment ? target.percentEncodedFragment : nil
    // RFC 3986 §5.2.2: a reference with a scheme or a host replaces the base; one without a path keeps the base's path.
    if scheme != nil || encodedHost != nil {
      let baseScheme = target.scheme
      target = self
      if target.scheme == nil { target.scheme = baseScheme }
    } else if percentEncodedPath.isEmpty {
      if percentEncodedQuery != nil { target.percentEncodedQuery = percentEncodedQuery }
    } else {
      let directory = target.percentEncodedPath.prefix(through: target.percentEncodedPath.lastIndex(of: "/"))
      let isRooted = percentEncodedPath.hasPrefix("/")
      target.percentEncodedPath = isRooted ? percentEncodedPath : directory + percentEncodedPath
      target.percentEncodedQuery = percentEncodedQuery
    }
    target.percentEncodedFragment = percentEncodedFragment ?? baseFragment
    guard let url = target.url else { throw NetworkError(.invalidURL, "the location is not a URL") }
    return url
  }
}

extension String {
  fileprivate func prefix(through index: String.Index?) -> String {
    index.map { String(self[...$0]) } ?? "/"
  }
}
