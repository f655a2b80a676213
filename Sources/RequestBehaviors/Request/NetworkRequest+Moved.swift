public import Foundation

extension NetworkRequest {
  /// Returns the request for where a reference leads, such as the `Location` of a redirect or the URL of a mirror.
  ///
  /// The reference is resolved as RFC 3986 §5 has it, `..` above the root dropped and the fragment carried over (RFC
  /// 9110 §10.2.2). If it leads to another origin, what belongs to the one that is left stays behind: sensitive fields
  /// that are not for both, `Host`, `Origin`, and every option that is not portable. Method and body stay.
  ///
  /// - Parameters:
  ///   - reference: An absolute URL or a relative reference.
  ///   - base: The URL that it is relative to, which another behavior may have changed before it was sent; by default
  ///     the request's own.
  /// - Returns: The request for the new URL, with its path as the endpoint.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidURL`` for a reference that is malformed,
  ///   of another scheme, with a user name in it, or that leads from https to http.
  public func moved(to reference: String, relativeTo base: URL? = nil) throws -> NetworkRequest {
    let base = base ?? url
    let target = try RequestURL.resolve(reference: reference, relativeTo: base)
    if base.scheme?.lowercased() == "https", target.scheme != "https" {
      throw NetworkError(.invalidURL, "it leads from https to http, where anybody can read and change it")
    }
    var next = self
    next.url = target
    next.endpoint = target.path(percentEncoded: true)
    next.leaveValidation()
    if next.origin != origin || next.origin != Origin(base) { next.leave(origin) }
    return next
  }

  /// Takes away the conditions that a cache added, which are about the URL that is left.
  private mutating func leaveValidation() {
    guard options.isCacheValidation else { return }
    for name in HeaderFields.conditions { headers.remove(name) }
    options.isCacheValidation = false
  }

  /// Takes away what was for the origin that is left; what is gone stays gone on the hops that follow.
  private mutating func leave(_ left: Origin?) {
    headers.markCredentials(as: .baseURL)
    headers.leave(left, for: origin, base: call.baseOrigin)
    removeIdempotencyKey()
    options = options.portable()
  }
}

extension RequestURL {
  /// Returns where a reference of a server leads, as RFC 3986 §5 has it, `..` above the root dropped.
  ///
  /// - Parameters:
  ///   - reference: An absolute URL or a relative reference; what must be escaped in it is.
  ///   - base: The URL that it is relative to.
  ///   - keepsFragment: Whether a reference without a fragment takes that of the base, as a redirect does.
  /// - Returns: The URL.
  /// - Throws: ``NetworkError`` of code `invalidURL` for what is no http or https URL.
  static func resolve(reference: String, relativeTo base: URL, keepsFragment: Bool = true) throws -> URL {
    let text = PercentEncoding.repair(reference) { PercentEncoding.isQueryCharacter($0) || "#[]".utf8.contains($0) }
    guard let components = URLComponents(string: text) else {
      throw NetworkError(.invalidURL, "the location is no URL reference")
    }
    let url = try components.resolved(against: base, keepsFragment: keepsFragment)
    return try check(url, dropsParentsOfRoot: true)
  }
}

extension URLComponents {
  /// Resolves this reference against a base (RFC 3986 §5.2.2), but for dot segments.
  fileprivate func resolved(against base: URL, keepsFragment: Bool) throws -> URL {
    guard var target = URLComponents(url: base, resolvingAgainstBaseURL: true) else {
      throw NetworkError(.invalidURL, "the base has no parts")
    }
    let baseFragment = keepsFragment ? target.percentEncodedFragment : nil
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
    guard let url = target.url else { throw NetworkError(.invalidURL, "the location is no URL") }
    return url
  }
}

extension String {
  fileprivate func prefix(through index: String.Index?) -> String {
    index.map { String(self[...$0]) } ?? "/"
  }
}

extension HeaderFields {
  /// Removes what is not for another origin than the one that a request was for: `Host`, `Origin`, and the sensitive
  /// fields that are not for both.
  mutating func leave(_ left: Origin?, for other: Origin?, base: Origin?) {
    removeAll { field in
      if ["Host", "Origin"].contains(where: { HeaderFields.areEqual($0, field.name) }) { return true }
      guard let scope = field.sensitivity else { return false }
      guard let left, let other else { return true }
      return !scope.includes(left, base: base) || !scope.includes(other, base: base)
    }
  }
}

private enum CacheValidation: RequestOption {
  static let defaultValue = false
}

extension RequestOptions {
  /// Whether the conditions of the request are a cache's, which asks whether a stored response is still good.
  ///
  /// A behavior that sets it gets the 304 in its `intercept`. The 304 is a success for every behavior further in, whose
  /// ``RequestBehavior/afterSuccess(_:for:)`` gets it without a body. A redirect leaves the conditions behind.
  public var isCacheValidation: Bool {
    get { self[CacheValidation.self] }
    set { self[CacheValidation.self] = newValue }
  }
}

extension HeaderFields {
  /// The fields that make a request conditional (RFC 9110 §13.1).
  public static let conditions = ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"]
}
