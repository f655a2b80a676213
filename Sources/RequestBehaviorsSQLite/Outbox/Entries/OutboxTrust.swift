public import RequestBehaviors

/// The proof that a response comes from the server, without which an ``Outbox`` removes nothing.
///
/// A captive portal responds to any request, often with 200. A response that is not trusted says nothing about the
/// entry, whatever its status.
public struct OutboxTrust: Sendable {
  private enum Kind: Sendable {
    case verified
    case anyone
    case when(@Sendable (NetworkResponse) -> Bool)
  }

  private let kind: Kind

  /// A behavior such as `NonceVerificationBehavior` has verified the response.
  public static let verified = OutboxTrust(kind: .verified)

  /// Every response counts, a captive portal's too.
  public static let anyone = OutboxTrust(kind: .anyone)

  /// The closure recognizes the server's responses, also those with a failure status.
  ///
  /// A 303 must be recognized as well: what follows it is a response to another request, of another server perhaps.
  ///
  /// - Parameter isTheServers: Returns whether the response comes from the server.
  /// - Returns: The proof.
  public static func when(_ isTheServers: @escaping @Sendable (NetworkResponse) -> Bool) -> OutboxTrust {
    OutboxTrust(kind: .when(isTheServers))
  }

  var needsVerification: Bool { if case .verified = kind { true } else { false } }

  private static let notFromTheNetwork: Set<ResponseSource> = [.cache, .revalidated, .stale, .coalesced]

  /// Returns whether a response is the server's to this very request.
  func includes(_ response: NetworkResponse) -> Bool {
    guard !Self.notFromTheNetwork.contains(response.source), response.isVerified else { return false }
    return switch kind {
    case .verified: response.verification == .verified
    case .anyone: true
    case .when(let isTheServers): isTheServers(response)
    }
  }
}
