/// Where the base string that a service computed leaves the one that was signed.
///
/// A service that refuses a signature often shows its base string, or has it in a log. ``OAuth1Signature/difference(from:)``
/// compares the two.
public struct OAuth1Difference: Sendable, Hashable, CustomStringConvertible {
  /// The part of a base string (RFC 5849 §3.4.1.1).
  public enum Part: String, Sendable, Hashable {
    /// The request method.
    case method = "request method"
    /// The scheme, host, port and path.
    case uri = "base string URI"
    /// The parameters.
    case parameters = "parameters"
    /// The whole, which does not have three parts.
    case form = "form of the base string"
  }

  /// The part in which the difference is.
  public let part: Part
  /// The octet of the base string at which it begins, counted from 0.
  public let offset: Int
  /// What was signed there: a method, a URI, an encoded parameter; `nil` if nothing was.
  public let signed: String?
  /// What the service has there; `nil` if it has nothing.
  public let service: String?
  /// What it probably comes from.
  public let hint: String

  /// The part, the place, both sides and the hint, in several lines.
  public var description: String {
    """
    The base strings differ from octet \(offset) on, in the \(part.rawValue).
      signed:  \(signed ?? "nothing")
      service: \(service ?? "nothing")
    \(hint)
    """
  }
}
