import Foundation
import RequestBehaviors

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A simulated response as a client gets it by HTTP (RFC 9112 §6.3).
struct SimulatedMessage {
  /// The fields, with the length of the body unless the server does not know it at the beginning.
  private(set) var headers: HeaderFields
  /// The body, no longer than its `Content-Length`.
  private(set) var chunks: [Data]
  /// The message for a body that is shorter than its `Content-Length`; `nil` if the body is whole.
  let missing: String?
  /// Whether the response has no body, whatever its fields say.
  let isBodiless: Bool

  /// Creates the response to a request.
  ///
  /// - Throws: ``NetworkError`` of code `badResponse`, as a transport does, if the fields leave the end of the body in
  ///   doubt.
  init(_ response: SimulatedResponse, to request: NetworkRequest) throws {
    isBodiless = ResponseFraming.isBodiless(response.statusCode, to: request.method)
    headers = response.headers
    chunks = isBodiless ? [] : response.chunks
    if !headers.contains("Content-Length"), response.pause == .zero, request.method == .head || !isBodiless {
      headers[.contentLength] = "\(response.chunks.reduce(0) { $0 + $1.count })"
    }
    let framing = try SimulatedMessage.framing(of: response.statusCode, headers, to: request)
    missing = framing.missing(from: chunks.reduce(0) { $0 + $1.count })
    if let length = framing.bodyLength { limit(to: Int(clamping: length)) }
  }

  /// Returns what the fields say about the body, by the rules of the transports.
  private static func framing(
    of status: Int, _ headers: HeaderFields, to request: NetworkRequest
  ) throws -> ResponseFraming {
    let fields = Dictionary(headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
    let head = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    guard let head else { throw SimulatedMessage.refusal("the response has an invalid head", of: request) }
    let framing = ResponseFraming(head, to: request.method, takesAnythingForHTTP: false)
    if let objection = framing.objection { throw SimulatedMessage.refusal(objection, of: request) }
    return framing
  }

  private static func refusal(_ message: String, of request: NetworkRequest) -> NetworkError {
    var error = NetworkError(.badResponse, message, request: request)
    error.progress = NetworkError.Progress(.headReceived)
    return error
  }

  /// Drops what follows the end of the body.
  private mutating func limit(to length: Int) {
    var left = length
    chunks = chunks.map { chunk in
      defer { left -= min(left, chunk.count) }
      return chunk.prefix(left)
    }
    chunks.removeAll(where: \.isEmpty)
  }
}
