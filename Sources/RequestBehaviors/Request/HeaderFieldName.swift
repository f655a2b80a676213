extension HeaderFields {
  /// The name of a field, which the compiler completes and checks; names are equal regardless of case.
  ///
  /// ```swift
  /// var headers: HeaderFields = [:]
  /// headers[.contentType] = "text/plain"
  /// print(headers["content-type"] ?? "none")  // text/plain
  /// ```
  ///
  /// For a name that your API defines, add a constant, so that it is written once:
  ///
  /// ```swift
  /// extension HeaderFields.Name {
  ///   static let shopRegion: Self = "X-Shop-Region"
  /// }
  /// ```
  public struct Name: Sendable, ExpressibleByStringLiteral {
    /// The name as it is sent.
    public let rawValue: String

    /// Creates a name.
    ///
    /// - Parameter name: The name, which is checked against RFC 9110 §5.1 when a request is sent.
    public init(_ name: String) { rawValue = name }

    /// Creates a name from a literal.
    public init(stringLiteral name: String) { rawValue = name }
  }
}

extension HeaderFields.Name: Hashable, CustomStringConvertible {
  /// Whether two names are equal, regardless of ASCII case (RFC 9110 §5.1).
  public static func == (left: Self, right: Self) -> Bool { HeaderFields.areEqual(left.rawValue, right.rawValue) }

  /// Feeds the name in lower case into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }

  /// The name as it is sent.
  public var description: String { rawValue }
}

extension HeaderFields.Name {
  /// `Accept` (RFC 9110 §12.5.1).
  public static let accept: Self = "Accept"
  /// `Accept-Encoding` (RFC 9110 §12.5.3).
  public static let acceptEncoding: Self = "Accept-Encoding"
  /// `Accept-Language` (RFC 9110 §12.5.4).
  public static let acceptLanguage: Self = "Accept-Language"
  /// `Accept-Ranges` (RFC 9110 §14.3).
  public static let acceptRanges: Self = "Accept-Ranges"
  /// `Age` (RFC 9111 §5.1).
  public static let age: Self = "Age"
  /// `Authorization` (RFC 9110 §11.6.2).
  public static let authorization: Self = "Authorization"
  /// `Cache-Control` (RFC 9111 §5.2).
  public static let cacheControl: Self = "Cache-Control"
  /// `Content-Encoding` (RFC 9110 §8.4).
  public static let contentEncoding: Self = "Content-Encoding"
  /// `Content-Length` (RFC 9110 §8.6).
  public static let contentLength: Self = "Content-Length"
  /// `Content-Location` (RFC 9110 §8.7).
  public static let contentLocation: Self = "Content-Location"
  /// `Content-Range` (RFC 9110 §14.4).
  public static let contentRange: Self = "Content-Range"
  /// `Content-Type` (RFC 9110 §8.3).
  public static let contentType: Self = "Content-Type"
  /// `Cookie` (RFC 6265 §5.4).
  public static let cookie: Self = "Cookie"
  /// `Date` (RFC 9110 §6.6.1).
  public static let date: Self = "Date"
  /// `ETag` (RFC 9110 §8.8.3).
  public static let eTag: Self = "ETag"
  /// `Expect` (RFC 9110 §10.1.1).
  public static let expect: Self = "Expect"
  /// `Expires` (RFC 9111 §5.3).
  public static let expires: Self = "Expires"
  /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
  public static let idempotencyKey: Self = "Idempotency-Key"
  /// `If-Match` (RFC 9110 §13.1.1).
  public static let ifMatch: Self = "If-Match"
  /// `If-Modified-Since` (RFC 9110 §13.1.3).
  public static let ifModifiedSince: Self = "If-Modified-Since"
  /// `If-None-Match` (RFC 9110 §13.1.2).
  public static let ifNoneMatch: Self = "If-None-Match"
  /// `If-Range` (RFC 9110 §13.1.5).
  public static let ifRange: Self = "If-Range"
  /// `Last-Event-ID` (HTML §9.2.4).
  public static let lastEventID: Self = "Last-Event-ID"
  /// `Last-Modified` (RFC 9110 §8.8.2).
  public static let lastModified: Self = "Last-Modified"
  /// `Link` (RFC 8288 §3).
  public static let link: Self = "Link"
  /// `Location` (RFC 9110 §10.2.2).
  public static let location: Self = "Location"
  /// `Prefer` (RFC 7240 §2).
  public static let prefer: Self = "Prefer"
  /// `Range` (RFC 9110 §14.2).
  public static let range: Self = "Range"
  /// `Retry-After` (RFC 9110 §10.2.3).
  public static let retryAfter: Self = "Retry-After"
  /// `Set-Cookie` (RFC 6265 §4.1).
  public static let setCookie: Self = "Set-Cookie"
  /// `User-Agent` (RFC 9110 §10.1.5).
  public static let userAgent: Self = "User-Agent"
  /// `Vary` (RFC 9110 §12.5.5).
  public static let vary: Self = "Vary"
  /// `WWW-Authenticate` (RFC 9110 §11.6.1).
  public static let wwwAuthenticate: Self = "WWW-Authenticate"
}

extension HeaderFields {
  /// The value of a field; see ``subscript(_:)-(String)``.
  public subscript(name: Name) -> String? {
    get { self[name.rawValue] }
    set { self[name.rawValue] = newValue }
  }

  /// All values of a name in their order.
  public func values(for name: Name) -> [String] { values(for: name.rawValue) }

  /// The first field of a name, with its mark.
  public func field(named name: Name) -> Field? { field(named: name.rawValue) }

  /// Whether there is a field of the name.
  public func contains(_ name: Name) -> Bool { contains(name.rawValue) }

  /// Sets a field, replacing all of its name; see ``set(_:_:sensitive:)-(String,_,_)``.
  public mutating func set(_ name: Name, _ value: String, sensitive scope: OriginScope? = nil) {
    set(name.rawValue, value, sensitive: scope)
  }

  /// Adds a value to the existing ones of the name; see ``append(_:_:sensitive:)-(String,_,_)``.
  public mutating func append(_ name: Name, _ value: String, sensitive scope: OriginScope? = nil) {
    append(name.rawValue, value, sensitive: scope)
  }

  /// Removes all fields of a name.
  public mutating func remove(_ name: Name) { remove(name.rawValue) }
}

extension HeaderFields.Field {
  /// Creates a field.
  public init(_ name: HeaderFields.Name, _ value: String, sensitive scope: OriginScope? = nil) {
    self.init(name.rawValue, value, sensitive: scope)
  }

  /// Whether the field has a name, regardless of case.
  public func isNamed(_ name: HeaderFields.Name) -> Bool { HeaderFields.areEqual(self.name, name.rawValue) }
}
