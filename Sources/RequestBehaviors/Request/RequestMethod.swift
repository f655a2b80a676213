/// An HTTP request method (RFC 9110 §9), such as `GET`.
///
/// Methods are case-sensitive tokens; the static members are registered methods. Write any other as a literal:
///
/// ```swift
/// let report: RequestMethod = "REPORT"
/// ```
public struct RequestMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The method as it is sent.
  public let rawValue: String

  /// Creates a method; an invalid token fails when the request is sent.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a method from a literal.
  public init(stringLiteral value: String) { self.rawValue = value }

  /// The method as it is sent.
  public var description: String { rawValue }

  /// The method `GET`.
  public static let get: RequestMethod = "GET"
  /// The method `HEAD`.
  public static let head: RequestMethod = "HEAD"
  /// The method `POST`.
  public static let post: RequestMethod = "POST"
  /// The method `PUT`.
  public static let put: RequestMethod = "PUT"
  /// The method `PATCH`.
  public static let patch: RequestMethod = "PATCH"
  /// The method `DELETE`.
  public static let delete: RequestMethod = "DELETE"
  /// The method `OPTIONS`.
  public static let options: RequestMethod = "OPTIONS"
  /// The method `TRACE`.
  public static let trace: RequestMethod = "TRACE"
  /// The method `QUERY`: safe and idempotent like `GET`, with a body.
  public static let query: RequestMethod = "QUERY"

  /// Whether the method asks for no change on the server (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace, .query: true
    default: false
    }
  }

  /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether a body on the request has no defined meaning (RFC 9110 §9.3.1, §9.3.2, §9.3.8) and is refused.
  public var forbidsBody: Bool { self == .get || self == .head || self == .trace }
}
