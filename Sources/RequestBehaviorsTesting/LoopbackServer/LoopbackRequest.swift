public import Foundation
public import RequestBehaviors

/// A request as a ``LoopbackServer`` received it.
///
/// The request is neither decoded nor normalised: a test sees the bytes that went over the wire.
public struct LoopbackRequest: Sendable {
  /// The body, without its chunked framing; empty if the request has no body.
  public let body: Data
  /// The number of the connection on which it came; the server's first connection has 0.
  public let connectionIndex: Int
  /// The number of the request on its connection.
  ///
  /// The first has 0, so a greater number means a reused connection.
  public let requestIndex: Int
  let parsedHead: LoopbackHead

  init(head: LoopbackHead, body: Data, connectionIndex: Int, requestIndex: Int) {
    self.parsedHead = head
    self.body = body
    self.connectionIndex = connectionIndex
    self.requestIndex = requestIndex
  }

  /// The method.
  public var method: RequestMethod { RequestMethod(rawValue: parsedHead.string(parsedHead.method)) }

  /// The request target as it was sent (RFC 9112 §3.2), such as `/users?page=2`.
  public var target: String { parsedHead.string(parsedHead.target) }

  /// The path of the target as it was sent, percent-encoded and with its leading `/`; `*` for an asterisk-form.
  public var path: String {
    let path = originForm.prefix { $0 != "?" }
    return path.isEmpty ? "/" : String(path)
  }

  /// The query of the target as it was sent, percent-encoded; `nil` if it has no `?`.
  public var query: String? {
    let target = originForm
    guard let mark = target.firstIndex(of: "?") else { return nil }
    return String(target[target.index(after: mark)...])
  }

  /// The target without the scheme and authority that a client puts there for a proxy (RFC 9112 §3.2.2).
  private var originForm: Substring {
    let target = target[...]
    guard !target.hasPrefix("/"), let scheme = target.range(of: "://") else { return target }
    return target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
  }

  /// The header fields in the order in which they were sent, with names as written and repeated names kept.
  ///
  /// They are parsed at each access, which takes time proportional to their number.
  public var headers: HeaderFields { HeaderFields(parsedHead.fields.map { HeaderFields.Field($0.name, $0.value) }) }

  /// The request line and header fields as they were sent, with the empty line that ends them.
  public var head: String { String(decoding: parsedHead.bytes, as: UTF8.self) }

  /// The body as text; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the body decoded from JSON.
  ///
  /// - Throws: `DecodingError` if the body is not JSON of that shape.
  public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: body)
  }
}

extension LoopbackRequest: CustomStringConvertible {
  /// The request line and the number of bytes in the body.
  public var description: String { "\(method) \(target) (\(body.count) bytes)" }
}
