public import Foundation

extension NetworkRequest {
  /// Returns the request for the target of a reference, such as the `Location` of a redirect or the URL of a mirror.
  ///
  /// The reference is resolved by RFC 3986 §5; `..` above the root is dropped and the fragment is carried over
  /// (RFC 9110 §10.2.2). If it leads to another origin, the request loses everything that is for the old origin only:
  /// sensitive fields that are not for both, `Host`, `Origin`, and every option that is not portable. Method and body
  /// stay.
  ///
  /// - Parameters:
  ///   - reference: An absolute URL or a relative reference.
  ///   - base: The URL that the reference is relative to. Another behavior may have changed it before it was sent; by
  ///     default it is the request's own.
  /// - Returns: The request for the new URL, with its path as the endpoint.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidURL`` for a reference that is
  ///   malformed, has another scheme, has a user name in it, or leads from https to http.
  public func moved(to reference: String, relativeTo base: URL? = nil) throws -> NetworkRequest {
    let base = base ?? url
    let target = try URLResolution.resolve(reference: reference, relativeTo: base)
    if base.scheme?.lowercased() == "https", target.scheme != "https" {
      throw NetworkError(.invalidURL, "it leads from https to http, where others can read and change it")
    }
    var next = self
    next.url = target
    next.endpoint = target.path(percentEncoded: true)
    next.leaveValidation()
    if next.origin != origin || next.origin != Origin(base) { next.leave(origin) }
    return next
  }

  /// Returns the request as a GET, which asks for the outcome of another method (RFC 9110 §15.4).
  ///
  /// It has neither the body, the fields about the body (`Content-…`, `Transfer-Encoding`, `Digest`, `Repr-Digest`,
  /// `Last-Modified`, `Expect`) nor the idempotency key. A redirect makes it after a 303. A behavior that polls makes
  /// it of the request that ``moved(to:relativeTo:)`` returns.
  public func convertedToGet() -> NetworkRequest {
    var next = self
    next.method = .get
    next.body = nil
    next.removeIdempotencyKey()
    next.headers.removeAll { field in
      field.name.lowercased().hasPrefix("content-")
        || HeaderFields.ofBodies.contains { HeaderFields.areEqual(field.name, $0) }
    }
    return next
  }

  /// Removes the conditions that a cache added, because they are about the previous URL.
  private mutating func leaveValidation() {
    guard options.isCacheValidation else { return }
    for name in HeaderFields.conditions { headers.remove(name) }
    options.isCacheValidation = false
  }
}

private enum CacheValidation: RequestOption {
  static let defaultValue = false
}

extension RequestOptions {
  /// Whether a cache added the conditions of the request, to learn if a stored response is still valid.
  ///
  /// A behavior that sets it gets the 304 in its `intercept`. The 304 is a success for every behavior further in, whose
  /// ``RequestBehavior/afterSuccess(_:for:)`` gets it without a body. A redirect removes the conditions.
  public var isCacheValidation: Bool {
    get { self[CacheValidation.self] }
    set { self[CacheValidation.self] = newValue }
  }
}

extension HeaderFields {
  /// The fields about a body whose names do not begin with `Content-` (RFC 9110 §15.4, §10.1.1; RFC 9530 §3).
  fileprivate static let ofBodies = ["Transfer-Encoding", "Digest", "Repr-Digest", "Last-Modified", "Expect"]

  /// The fields that make a request conditional (RFC 9110 §13.1).
  public static let conditions = ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"]
}
