#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLRequest {
  /// Creates the platform's form of a request, for code that needs one.
  ///
  /// Header fields of one name are joined, `Cookie` by `"; "` and others by `", "`; a body in memory is its
  /// `httpBody`, while files and streams have no place in it. Options are left out, and so is the platform's timeout,
  /// which is set so that it never decides.
  ///
  /// - Parameter request: The request.
  /// - Throws: ``NetworkError`` if the platform cannot send to the URL.
  public init(_ request: NetworkRequest) throws {
    self.init(url: try request.platformURL)
    httpMethod = request.method.rawValue
    timeoutInterval = 2_000_000
    allHTTPHeaderFields = request.platformHeaders
    httpBody = request.body?.data
  }
}

extension NetworkRequest {
  fileprivate var platformURL: URL {
    get throws {
      guard let origin else { throw NetworkError.invalidURL("the URL is not an absolute http or https URL") }
      #if canImport(FoundationNetworking)
        if origin.host.contains(":") {
          throw NetworkError(
            .unsupportedAddress, "URLSession on Linux cannot send to the IPv6 address \(origin.host); use a host name",
            request: self)
        }
      #endif
      guard url.scheme != origin.scheme else { return url }
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
      components?.scheme = origin.scheme
      return components?.url ?? url
    }
  }

  fileprivate var platformHeaders: [String: String] {
    var fields = [String: String](minimumCapacity: headers.count + 1)
    for (index, field) in headers.enumerated() {
      let first = headers[..<index].first { HTTPHeaders.areEqual($0.name, field.name) }
      guard let name = first?.name, let joined = fields[name] else {
        fields[field.name] = field.value
        continue
      }
      fields[name] = joined + (HTTPHeaders.areEqual(name, "Cookie") ? "; " : ", ") + field.value
    }
    // Without one, the platform would call a body a form.
    if let body, !headers.contains("Content-Type") {
      fields["Content-Type"] = body.contentType ?? "application/octet-stream"
    }
    return fields
  }
}

extension NetworkRequest {
  /// Creates a request of the platform's form of one.
  ///
  /// A body stream becomes no body: it cannot be read without blocking.
  ///
  /// - Parameter request: The platform's request.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidURL`` if it has no absolute http or
  ///   https URL.
  public init(_ request: URLRequest) throws {
    guard let url = request.url, Origin(url) != nil else {
      throw NetworkError.invalidURL("the URL is not an absolute http or https URL")
    }
    self.init(
      HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url,
      headers: HTTPHeaders((request.allHTTPHeaderFields ?? [:]).map { HTTPHeaders.Field($0.key, $0.value) }),
      body: request.httpBody.map { .data($0) })
  }
}
