public import Foundation
public import RequestBehaviors

/// A response of a ``LoopbackServer``, and the server's conduct while it sends it.
///
/// Begin with one of the static members and refine the response with modifiers:
///
/// ```swift
/// server.enqueue(.json(#"{"id": 1}"#).header("ETag", "\"a\""))
/// server.enqueue(.status(503).header("Retry-After", "2"))
/// server.enqueue(
///   .chunked(["one", "two"]).fault(.close, at: .body(after: 4)))
/// ```
///
/// The server adds only the fields that frame the message: `Content-Length` or `Transfer-Encoding`, and `Connection:
/// close` if it closes. If the response has such a field itself, that field is sent unchanged instead. If the client
/// cannot tell from the sent fields where the response ends, the server closes the connection after it. So
/// `.text("hi").header("Content-Length", "10")` is a body that ends too early.
public struct LoopbackResponse: Sendable {
  /// The framing that tells the client where the body ends.
  enum Framing: Sendable {
    case contentLength
    case chunked([Data], trailers: HeaderFields, badSize: String?)
    case closeDelimited
    case generated(LoopbackPieces, isChunked: Bool)
    case raw(closes: Bool)
  }

  struct Effect: Sendable {
    enum Conduct: Sendable {
      case delay(Duration)
      case hold(LoopbackGate)
      case fault(LoopbackFault)
    }

    let point: LoopbackPoint
    let conduct: Conduct
  }

  struct Throttle: Sendable {
    let bytes: Int
    let interval: Duration
  }

  /// The status code.
  public var status: Int
  /// The reason phrase; by default the usual one of the status, or an empty one.
  public var reason: String
  /// The header fields in the order in which they are sent.
  public var headers: HeaderFields
  /// The body.
  ///
  /// In a raw response it is everything that is sent; a chunked response does not use it.
  public var body: Data
  var framing: Framing
  var repeats = 1
  var effects: [Effect] = []
  var throttle: Throttle?
  /// The most bytes that a body may have; with a head and a tail their number is still an `Int`.
  static let longestBody = Int.max / 4

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: The status code; by default 200.
  ///   - reason: The reason phrase; by default the usual one of the status.
  ///   - headers: The header fields; by default none.
  ///   - body: The body; by default empty. It is not sent in response to `HEAD`, nor with 1xx, 204 and 304.
  public init(status: Int = 200, reason: String? = nil, headers: HeaderFields = [:], body: Data = Data()) {
    self.init(status: status, reason: reason, headers: headers, body: body, framing: .contentLength)
  }

  init(status: Int, reason: String? = nil, headers: HeaderFields = [:], body: Data = Data(), framing: Framing) {
    self.status = status
    self.reason = reason ?? LoopbackResponse.reasons[status] ?? ""
    self.headers = headers
    self.body = body
    self.framing = framing
  }

  private static let reasons: [Int: String] = [
    100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found",
    303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
    422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported", 511: "Network Authentication Required",
  ]
}

extension LoopbackResponse: CustomStringConvertible {
  /// The status, the number of bytes in the body, and the server's other conduct.
  public var description: String {
    let conduct = effects.map { "\($0.conduct) at \($0.point.kind)" } + (throttle.map { ["throttled \($0)"] } ?? [])
    let head = if case .raw = framing { "raw" } else { "\(status) \(reason)" }
    return ([head, "\(bodyCount) bytes"] + conduct).joined(separator: ", ")
  }

  private var bodyCount: Int {
    switch framing {
    case .chunked(let chunks, _, _): chunks.reduce(0) { $0 + $1.count }
    case .generated(let pieces, _): pieces.count * pieces.length
    default: body.count * repeats
    }
  }
}
