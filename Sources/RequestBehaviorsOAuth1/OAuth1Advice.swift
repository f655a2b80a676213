import Foundation
import RequestBehaviors

/// The remedies for the problems that services report (OAuth Problem Reporting extension).
enum OAuth1Advice {
  /// Returns the remedy for a problem.
  ///
  /// - Parameters:
  ///   - problem: The value of `oauth_problem`.
  ///   - isUnexplained: Whether nothing else tells why the signature is refused.
  /// - Returns: A sentence; `nil` for a problem that is unknown.
  static func remedy(for problem: String, isUnexplained: Bool) -> String? {
    switch problem {
    case "signature_invalid":
      guard isUnexplained else { return nil }
      return
        "The request carries the signature that these secrets give. Get the service's base string and call"
        + " difference(from:) of the signature; if it finds no difference, a secret differs from the service's."
    case "nonce_used": return "The same signed request arrived twice: look for a proxy that repeats requests."
    case "consumer_key_unknown", "consumer_key_rejected", "consumer_key_refused":
      return "The service does not accept the consumer key: is it for this service and this environment of it?"
    case "token_used", "token_expired", "token_revoked", "token_rejected":
      return "The token is no longer valid: sign the user in again."
    case "signature_method_rejected": return "The service wants another signatureMethod of the session."
    case "version_rejected": return "Set OAuth1Options.includesVersion to false."
    case "permission_denied", "permission_unknown", "additional_authorization_required":
      return "The user has not granted this: sign the user in again with the permission."
    default: return nil
    }
  }

  /// Returns a sentence about a timestamp that is outside of the range that the service accepts.
  ///
  /// - Parameters:
  ///   - timestamp: The timestamp that was sent.
  ///   - range: The value of `oauth_acceptable_timestamps`, two numbers with a dash between them.
  /// - Returns: The sentence; `nil` if the timestamp is within the range, or one of them is unknown.
  static func timestamp(_ timestamp: String?, outside range: String?) -> String? {
    guard let sent = timestamp.flatMap({ Int($0) }), let range else { return nil }
    let bounds = range.split(separator: "-").map { Int($0) }
    guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last else { return nil }
    if sent < first { return "The timestamp is \(first - sent) s before the earliest that the service accepts." }
    return sent > last ? "The timestamp is \(sent - last) s after the latest that the service accepts." : nil
  }
}
