import Foundation

/// A part of a request that an HTTP message signature covers (RFC 9421 §2).
///
/// A string is the name of a field, or of a derived part, which begins with `@`:
///
/// ```swift
/// let parts: [SignatureComponent] = [
///   "@method", "@path", .query("page"), "content-type",
/// ]
/// ```
public struct SignatureComponent: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name, in lower case.
  public let name: String
  /// The name of the query's item, for ``query(_:)``.
  let item: String?

  /// Creates a component from the name of a field, or of a derived part.
  public init(_ name: String) { (self.name, item) = (name.lowercased(), nil) }

  /// Creates a component from a name.
  public init(stringLiteral value: String) { self.init(value) }

  private init(queryItem: String) { (name, item) = ("@query-param", queryItem) }

  /// The method (§2.2.1).
  public static let method = SignatureComponent("@method")
  /// The whole URL (§2.2.2).
  public static let targetURI = SignatureComponent("@target-uri")
  /// The host, and the port unless it is the scheme's (§2.2.3).
  public static let authority = SignatureComponent("@authority")
  /// The path (§2.2.6).
  public static let path = SignatureComponent("@path")
  /// The query with its `?` (§2.2.7).
  public static let query = SignatureComponent("@query")
  /// The hash of the body (RFC 9530); the field is added if the request has none.
  public static let contentDigest = SignatureComponent("content-digest")

  /// Returns the component of one item of the query, which must be there once (§2.2.8).
  public static func query(_ item: String) -> SignatureComponent { SignatureComponent(queryItem: item) }

  /// The identifier in `Signature-Input`.
  public var description: String {
    let name = StructuredText.quoted(name)
    guard let item else { return name }
    return "\(name);name=\(StructuredText.quoted(PercentEncoding.escapedForm(item)))"
  }

  /// Returns the value of the component.
  ///
  /// - Parameter request: The request as it is sent.
  /// - Returns: The value in its canonical form.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` if the request has no such
  ///   part.
  func value(in request: NetworkRequest) throws -> String {
    let url = request.url
    let path = url.path(percentEncoded: true)
    let query = url.query(percentEncoded: true)
    switch name {
    case "@method": return request.method.rawValue
    case "@scheme": return url.scheme?.lowercased() ?? ""
    case "@authority": return try authority(of: request)
    case "@path": return path.isEmpty ? "/" : path
    case "@query": return "?" + (query ?? "")
    case "@request-target": return (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "")
    case "@target-uri":
      return String(url.absoluteString.prefix { $0 != "#" })
    case "@query-param": return try queryValue(query ?? "")
    default: return try fieldValue(in: request)
    }
  }

  private func authority(of request: NetworkRequest) throws -> String {
    guard let origin = request.origin else { throw missing("the URL has no host") }
    let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
    let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
    return isDefault ? host : "\(host):\(origin.port)"
  }

  private func queryValue(_ query: String) throws -> String {
    let values = query.split(separator: "&").compactMap { part -> String? in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard PercentEncoding.decodedForm(pair[0]) == item else { return nil }
      return PercentEncoding.decodedForm(pair.count > 1 ? pair[1] : "")
    }
    guard values.count == 1 else { throw missing("the query has \(values.count) items of that name") }
    return PercentEncoding.escapedForm(values[0])
  }

  private func fieldValue(in request: NetworkRequest) throws -> String {
    guard !name.hasPrefix("@") else { throw missing("it is not a derived component of a request") }
    // The transport adds this field, whose value is known all the same.
    if name == "content-length", !request.headers.contains(name), let length = request.body?.length {
      return "\(length)"
    }
    let values = request.headers.values(for: name)
    guard !values.isEmpty else {
      throw missing("the request has no such field; set it, or cover @authority for the host")
    }
    // Transports send cookies as one field (RFC 6265 §5.4), so a server sees no comma between them.
    return values.map { HTTPSyntax.withoutOuterSpace($0) }.joined(separator: name == "cookie" ? "; " : ", ")
  }

  private func missing(_ reason: String) -> NetworkError {
    NetworkError(.invalidRequest, "the signature is to cover \(self), but \(reason) (RFC 9421 §2)")
  }
}
