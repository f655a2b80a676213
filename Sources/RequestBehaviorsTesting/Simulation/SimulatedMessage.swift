import Foundation
import RequestBehaviors

/// A simulated response as a client gets it by HTTP (RFC 9112 §6.3).
struct SimulatedMessage {
  /// The fields, with the length of the body unless the server does not know it at the beginning.
  private(set) var headers: HeaderFields
  /// The body, no longer than its `Content-Length`.
  private(set) var chunks: [Data]
  /// The number of bytes that are missing of the `Content-Length`.
  private(set) var missing = 0
  /// Whether the response has no body, whatever its fields say.
  let isBodiless: Bool

  /// Creates the response to a request.
  ///
  /// - Throws: ``NetworkError`` of code `badResponse` if `Content-Length` is no number.
  init(_ response: SimulatedResponse, to request: NetworkRequest) throws {
    headers = response.headers
    chunks = response.chunks
    let hasNoContent = [204, 304].contains(response.statusCode)
    isBodiless = request.method == .head || hasNoContent
    let count = chunks.reduce(0) { $0 + $1.count }
    if let text = headers[.contentLength] {
      guard let length = SimulatedMessage.length(text) else {
        var error = NetworkError(.badResponse, "the Content-Length \"\(text)\" is not a number", request: request)
        error.progress = NetworkError.Progress(.headReceived, reusedConnection: false)
        throw error
      }
      // The simulated body of an encoded response is the decoded one, and has another length.
      if !isBodiless, !headers.contains("Content-Encoding") { limit(to: length, of: count) }
    } else if response.pause == .zero, !hasNoContent {
      headers[.contentLength] = "\(count)"
    }
    if isBodiless { chunks = [] }
  }

  /// Returns the length that a field says; a list of the same number counts as the number (RFC 9110 §8.6).
  private static func length(_ text: String) -> Int? {
    let numbers = Set(
      text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) })
    guard numbers.count == 1, let number = numbers.first, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(number)
  }

  /// Drops what follows the end of the body, and counts what is missing of it.
  private mutating func limit(to length: Int, of count: Int) {
    missing = max(0, length - count)
    var left = length
    chunks = chunks.map { chunk in
      defer { left -= min(left, chunk.count) }
      return chunk.prefix(left)
    }
    chunks.removeAll(where: \.isEmpty)
  }
}
