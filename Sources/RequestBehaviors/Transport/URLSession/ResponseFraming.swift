#if canImport(FoundationNetworking)
  import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// The facts about a body that the head of its response tells, and the reasons to refuse the response (RFC 9112 §6.3).
package struct ResponseFraming {
  /// The maximum number of header fields of a response, far more than servers send.
  static let maximumFieldCount = 1_000

  package static var isLenient: Bool {
    #if canImport(FoundationNetworking)
      false
    #else
      true
    #endif
  }

  /// The reason why the response is refused; `nil` if it is not.
  package private(set) var objection: String?

  /// The number of bytes of the body that the platform will deliver; `nil` if the head does not tell.
  package private(set) var bodyLength: Int64?

  private let isRedirect: Bool
  /// Whether an encoded body ends with its connection.
  private var isEncodedToTheEnd = false

  /// Reads the head of a response.
  ///
  /// - Parameters:
  ///   - response: The response; fields of one name are joined by commas.
  ///   - method: The method of the request.
  ///   - takesAnythingForHTTP: Whether the platform takes text without a status line for a response of HTTP/0.9, with
  ///     the status 200 and no fields. Apple's platforms do.
  package init(
    _ response: HTTPURLResponse, to method: RequestMethod, takesAnythingForHTTP: Bool = ResponseFraming.isLenient
  ) {
    isRedirect = (300..<400).contains(response.statusCode)
    let fieldCount = response.allHeaderFields.count
    if takesAnythingForHTTP, response.statusCode == 200, fieldCount == 0 {
      objection = "the response has no header field: it is not HTTP/1.1"
      return
    }
    let limit = ResponseFraming.maximumFieldCount
    guard fieldCount <= limit else {
      objection = "the response has \(fieldCount) header fields; at most \(limit) are accepted"
      return
    }
    let coding = response.value(forHTTPHeaderField: "Transfer-Encoding")
    let length = response.value(forHTTPHeaderField: "Content-Length")
    let encoding = response.value(forHTTPHeaderField: "Content-Encoding")
    let hasNoBody = ResponseFraming.isBodiless(response.statusCode, to: method)
    guard coding == nil else {
      // Transfer-Encoding overrides Content-Length.
      objection = ResponseFraming.objection(coding: coding)
      return
    }
    guard let length else {
      // Over HTTP/2, which is used over TLS only, an empty body has an end of its own.
      isEncodedToTheEnd = !hasNoBody && encoding != nil && response.url?.scheme?.lowercased() == "http"
      return
    }
    guard let length = readLength(length) else { return }
    // The announced length is that of the compressed body, but the platform delivers the decompressed body.
    if !hasNoBody, encoding == nil { bodyLength = length }
  }

  /// Returns whether a response has no body, whatever its fields say.
  package static func isBodiless(_ status: Int, to method: RequestMethod) -> Bool {
    method == .head || status == 204 || status == 304
  }

  /// Returns why the end of a body with a transfer coding is in doubt (RFC 9112 §6.3); `nil` if it is not.
  private static func objection(coding: String?) -> String? {
    // Apple's URLSession reports another coding than the one that was received.
    guard !isLenient, let coding else { return nil }
    // With another coding libcurl delivers the chunks' sizes as a part of the body, or finds no end.
    let isChunked = coding.trimmingCharacters(in: .whitespaces).lowercased() == "chunked"
    return isChunked ? nil : "the response's Transfer-Encoding is not chunked: \(coding.prefix(64))"
  }

  /// Reads the value of Content-Length: one number, or a list of the same number.
  private mutating func readLength(_ text: String) -> Int64? {
    // Usually the value is one number.
    if ResponseFraming.isNumber(text), let length = Int64(text) { return length }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let lengths = Set(parts.map { $0.trimmingCharacters(in: .whitespaces) })
    let numbers = Set(lengths.map { ResponseFraming.isNumber($0) ? Int64($0) : nil })
    guard !numbers.contains(nil) else {
      objection = "the response's Content-Length is not a number, or is too great: \(text.prefix(64))"
      return nil
    }
    guard numbers.count == 1, let length = numbers.first else {
      objection = "the response has more than one Content-Length: \(text.prefix(64))"
      return nil
    }
    return length
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Returns the message for a body that is shorter than announced; `nil` if it is whole.
  ///
  /// - Parameter count: The number of received bytes.
  /// - Returns: The message, or `nil` if the body is whole.
  package func missing(from count: Int) -> String? {
    // Compressed data is never empty.
    if isEncodedToTheEnd, count == 0 { return "the compressed data of the body is missing" }
    guard let bodyLength, count < bodyLength else { return nil }
    // URLSession on Linux loses the body of a redirect that it cannot follow.
    if isRedirect, count == 0 { return nil }
    return "the body ended after \(count) of \(bodyLength) bytes"
  }
}
