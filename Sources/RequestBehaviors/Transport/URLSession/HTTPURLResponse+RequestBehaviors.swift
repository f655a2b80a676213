public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension NetworkResponse {
  /// Creates a response from the platform's response.
  ///
  /// - Parameters:
  ///   - response: The platform's response. Its header fields have no order and are sorted by name here.
  ///   - data: The body; empty by default.
  ///   - request: The request of the response.
  public init(_ response: HTTPURLResponse, data: Data = Data(), request: NetworkRequest) {
    self.init(
      request: request, statusCode: response.statusCode, headers: HeaderFields(response), body: .data(data))
  }
}

extension HTTPURLResponse {
  /// Creates the platform's form of a response, for code that needs one.
  ///
  /// It has no body, and header fields of the same name are joined by `", "`. It is `nil` if the platform refuses the
  /// response.
  ///
  /// - Parameter response: The response.
  public convenience init?(_ response: NetworkResponse) {
    self.init(
      url: response.request.url, statusCode: response.statusCode, httpVersion: "HTTP/1.1",
      headerFields: response.headers.joined)
  }
}

extension HTTPURLResponse {
  /// Whether another response to the same request follows (RFC 9110 §15.2); 101 is the last one over HTTP.
  var isInterim: Bool { (100..<200).contains(statusCode) && statusCode != 101 }
}

extension HeaderFields {
  /// Creates a list of the fields of the platform's response, sorted by name, since their order is lost.
  init(_ response: HTTPURLResponse) {
    let fields = response.allHeaderFields.compactMap { name, value -> Field? in
      guard let name = name.base as? String, let value = value as? String else { return nil }
      // A bare carriage return might end the field for another parser (RFC 9110 §5.5).
      guard value.utf8.contains(0x0D) else { return Field(name, value) }
      return Field(name, value.replacingOccurrences(of: "\r", with: " "))
    }
    self.init(fields.sorted { $0.name < $1.name })
  }
}
