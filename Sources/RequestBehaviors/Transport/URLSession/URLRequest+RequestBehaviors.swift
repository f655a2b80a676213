#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLRequest {
  /// Creates the platform's form of a request, for code that needs one.
  ///
  /// Header fields of the same name are joined, `Cookie` by `"; "` and others by `", "`. The idle timeout is kept, the
  /// other options are not. A body in memory becomes `httpBody`; files and streams are left out.
  ///
  /// - Parameter request: The request.
  /// - Throws: ``NetworkError`` if the URL is not an absolute http or https URL, or, on Linux, has an IPv6 address.
  public init(_ request: NetworkRequest) throws {
    self.init(url: try request.platformURL)
    if request.method != .get { httpMethod = request.method.rawValue }
    timeoutInterval = min(request.idleTimeout?.inSeconds ?? .infinity, URLRequest.longestTimeout)
    let headers = request.platformHeaders
    if !headers.isEmpty { allHTTPHeaderFields = headers }
    if let data = request.body?.data { httpBody = data }
  }

  /// A timeout of more than three weeks, which never expires in practice.
  ///
  /// libcurl accepts it.
  static let longestTimeout: TimeInterval = 2_000_000
}

extension NetworkRequest {
  /// Creates a request from the platform's request.
  ///
  /// The timeout becomes the idle timeout. A body stream is left out: it cannot be read without blocking.
  ///
  /// - Parameter request: The platform's request.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidURL`` if it has no absolute http or
  ///   https URL.
  public init(_ request: URLRequest) throws {
    guard let url = request.url, Origin(url) != nil else {
      throw NetworkError(.invalidURL, "the URL of the URLRequest is missing or not an absolute http or https URL")
    }
    self.init(
      RequestMethod(rawValue: request.httpMethod ?? "GET"), url: url,
      headers: HeaderFields(unordered: request.allHTTPHeaderFields ?? [:]), body: request.httpBody.map { .data($0) })
    let timeout = request.timeoutInterval
    idleTimeout = timeout > 0 && timeout < URLRequest.longestTimeout ? .seconds(timeout) : nil
  }

  fileprivate var platformURL: URL {
    get throws {
      guard let origin else { throw NetworkError(.invalidURL, "the URL is not an absolute http or https URL") }
      #if canImport(FoundationNetworking)
        if origin.host.utf8.contains(UInt8(ascii: ":")) {
          throw NetworkError(
            .unsupportedAddress,
            "URLSession on Linux cannot send to the IPv6 address [\(origin.host)]; use a host name that leads to it",
            request: self)
        }
      #endif
      // A scheme in capitals is legal (RFC 3986 §3.1), but not every platform accepts it.
      guard url.scheme != origin.scheme else { return url }
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
      components?.scheme = origin.scheme
      return components?.url ?? url
    }
  }

  fileprivate var platformHeaders: [String: String] {
    var fields = headers.joined
    // Without a Content-Type, the platform would declare a body as a form.
    if let body, !headers.contains("Content-Type") {
      fields["Content-Type"] = body.contentType ?? "application/octet-stream"
    }
    return fields
  }
}

extension HeaderFields {
  /// Creates a list of a dictionary's fields, sorted by name.
  init(unordered fields: [String: String]) {
    self.init(fields.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) })
  }

  /// The fields with those of the same name joined: `Cookie` by RFC 6265 §5.4, others by RFC 9110 §5.3.
  var joined: [String: String] {
    var fields = [String: String](minimumCapacity: count + 1)
    for (index, field) in enumerated() {
      let first = self[..<index].first { HeaderFields.areEqual($0.name, field.name) }
      if let name = first?.name, let value = fields[name] {
        fields[name] = value + (HeaderFields.areEqual(name, "Cookie") ? "; " : ", ") + field.value
      } else {
        fields[field.name] = field.value
      }
    }
    return fields
  }
}
