#if canImport(FoundationNetworking)
  import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// What the head of a response tells of its body, and why such a response is refused (RFC 9112 §6.3).
package struct ResponseFraming {
  /// The most header fields of a response, far more than servers send.
  static let maximumFieldCount = 1_000

  package static var isLenient: Bool {
    #if canImport(FoundationNetworking)
      false
    #else
      true
    #endif
  }

  /// Why the response is refused; `nil` if it is not.
  package private(set) var objection: String?

  /// How many bytes of body the platform will deliver; `nil` if the head does not tell.
  private(set) var bodyLength: Int64?

  private let isRedirect: Bool

  /// Reads the head of a response.
  ///
  /// - Parameters:
  ///   - response: The response; fields of one name are joined by commas.
  ///   - method: The method of the request.
  ///   - takesAnythingForHTTP: Whether the platform takes text without a status line for a response of HTTP/0.9, with the
  ///     status 200 and no field. Apple's does.
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
    // Transfer-Encoding overrides Content-Length.
    guard response.value(forHTTPHeaderField: "Transfer-Encoding") == nil,
      let text = response.value(forHTTPHeaderField: "Content-Length")
    else { return }
    guard let length = readLength(text) else { return }
    let hasNoBody = method == .head || response.statusCode == 204 || response.statusCode == 304
    // The length of a compressed body is told, and the decompressed body is delivered.
    if !hasNoBody, response.value(forHTTPHeaderField: "Content-Encoding") == nil { bodyLength = length }
  }

  /// Reads the value of Content-Length: one number, or a list of the same number.
  private mutating func readLength(_ text: String) -> Int64? {
    // Mostly it is one number.
    if ResponseFraming.isNumber(text) { return Int64(text) ?? .max }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let lengths = Set(parts.map { $0.trimmingCharacters(in: .whitespaces) })
    guard lengths.allSatisfy(ResponseFraming.isNumber) else {
      objection = "the response's Content-Length is not a number: \(text)"
      return nil
    }
    guard lengths.count == 1, let length = lengths.first else {
      objection = "the response has more than one Content-Length: \(text)"
      return nil
    }
    return Int64(length) ?? .max
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// What to tell of a body that is shorter than the head says; `nil` if it is not.
  ///
  /// - Parameter count: The number of bytes that came.
  /// - Returns: The message, or `nil` if the body is whole.
  func missing(from count: Int) -> String? {
    guard let bodyLength, count < bodyLength else { return nil }
    // URLSession on Linux loses the body of a redirect that leads nowhere.
    if isRedirect, count == 0 { return nil }
    return "the body ended after \(count) of \(bodyLength) bytes"
  }
}
