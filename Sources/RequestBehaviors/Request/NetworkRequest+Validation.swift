import Foundation

extension NetworkRequest {
  /// Checks that the request can be sent unchanged and cannot alter the meaning of another request.
  ///
  /// Every transport calls this before it sends. Methods and header names must be tokens (RFC 9110 §5.6.2). Values must
  /// not contain CR, LF, NUL or other controls (§5.5). The URL must be absolute http or https without a user name. A
  /// method without body semantics must have no body. `CONNECT` is the transport's own. The transport sets the framing:
  /// `Content-Length`, `Transfer-Encoding` and `Host` are refused unless ``RequestOptions/allowsFramingHeaders`` is
  /// set.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidURL`` or
  ///   ``NetworkError/Code-swift.struct/invalidRequest`` that names the value and the rule.
  public func validate() throws {
    let isSuspect = origin.map { URLResolution.isAmbiguousAddress($0.host) } ?? true
    if isSuspect || url.user(percentEncoded: true) != nil, let problem = URLResolution.problem(of: url) {
      throw NetworkError(.invalidURL, "the URL \(problem)")
    }
    guard HTTPSyntax.isToken(method.rawValue) else {
      throw NetworkError(.invalidRequest, "the method \"\(method.rawValue.debugEscaped)\" is not a token")
    }
    if method.rawValue == "CONNECT" {
      throw NetworkError(
        .invalidRequest,
        "CONNECT asks a proxy for a tunnel (RFC 9110 §9.3.6), which is the transport's to do; set the transport's proxy"
      )
    }
    if method.forbidsBody, body != nil {
      throw NetworkError(
        .invalidRequest,
        "\(method) has a body, which has no meaning (RFC 9110 §9.3) and which servers refuse; use POST or QUERY")
    }
    for field in headers { try validate(field) }
  }

  private func validate(_ field: HeaderFields.Field) throws {
    guard HTTPSyntax.isToken(field.name) else {
      throw NetworkError(.invalidRequest, "the header name \"\(field.name.debugEscaped)\" is not a token")
    }
    guard HTTPSyntax.isFieldValue(field.value) else {
      throw NetworkError(
        .invalidRequest,
        "the value of the header \(field.name) has a control character or a space at an end (RFC 9110 §5.5)")
    }
    if HTTPSyntax.isFraming(field.name), !options.allowsFramingHeaders {
      throw NetworkError(
        .invalidRequest,
        "the header \(field.name) is the transport's to set; a request that must set it says so with "
          + "allowsFramingHeaders")
    }
  }
}

extension String {
  /// The text with control characters made visible.
  fileprivate var debugEscaped: String { String(debugDescription.dropFirst().dropLast()) }
}

private enum AllowsFramingHeaders: RequestOption {
  static let defaultValue = false
}

extension RequestOptions {
  /// Whether the request may set `Host`, `Content-Length` and `Transfer-Encoding` itself; false by default.
  ///
  /// With a length that does not fit the body, a server may take one request for two (request smuggling).
  public var allowsFramingHeaders: Bool {
    get { self[AllowsFramingHeaders.self] }
    set { self[AllowsFramingHeaders.self] = newValue }
  }
}
