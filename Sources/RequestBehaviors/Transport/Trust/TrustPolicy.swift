import Foundation

#if canImport(ObjectiveC)
  public import Security
#endif

/// The rules of which servers are trusted.
///
/// ```swift
/// let keys = try [PublicKeyPin(current), PublicKeyPin(spare)]
/// let trust = try TrustPolicy.system
///   .pinning(["api.example.com": keys])
/// let transport = URLSessionTransport(
///   configuration: .init(trust: trust))
/// ```
///
/// A transport that cannot obey a policy fails every send with ``NetworkError/Code-swift.struct/unsupportedTrust``. A
/// server that is not trusted is an error of code ``NetworkError/Code-swift.struct/tlsFailed``.
public struct TrustPolicy: Sendable {
  /// The rule that decides before the pins.
  package enum Basis: Sendable {
    case system
    case anchors([X509Certificate], besidesSystem: Bool)
    #if canImport(ObjectiveC)
      case closure(@Sendable (SecTrust, String) -> Bool)
    #endif
  }

  package let basis: Basis
  private(set) var pins: [String: Set<PublicKeyPin>] = [:]

  /// The system decides, by its certificates and rules.
  public static let system = TrustPolicy(basis: .system)

  /// A server is trusted if its certificate leads to one of some authorities, and is valid otherwise.
  ///
  /// - Parameters:
  ///   - certificates: The certificates of the authorities, or a server's own that is signed by itself.
  ///   - besidesSystem: Whether the system's authorities are trusted too; false by default.
  /// - Returns: The policy.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if the list is empty.
  public static func anchors(_ certificates: [X509Certificate], besidesSystem: Bool = false) throws -> TrustPolicy {
    guard !certificates.isEmpty else {
      throw NetworkError(.invalidTrust, "there is no certificate to trust; give at least one, or use .system")
    }
    return TrustPolicy(basis: .anchors(certificates, besidesSystem: besidesSystem))
  }

  #if canImport(ObjectiveC)
    /// A closure decides.
    ///
    /// - Parameter isTrusted: Gets the server's certificates and the host, and returns whether the server is trusted.
    ///   It is called on a queue of the transport, so it may block, as evaluating certificates does.
    /// - Returns: The policy.
    public static func closure(_ isTrusted: @escaping @Sendable (SecTrust, _ host: String) -> Bool) -> TrustPolicy {
      TrustPolicy(basis: .closure(isTrusted))
    }
  #endif

  /// Returns a policy that also demands that the server has a pinned key (RFC 7469 §2.6).
  ///
  /// The key of the server's own certificate works with every transport that supports pins. Over URLSession on Apple's
  /// platforms, the key of any other certificate of the chain works too. Over libcurl only the server's own key works:
  /// a host for which only the keys of authorities are pinned cannot be reached.
  ///
  /// - Parameter pins: The keys by host. `*.example.com` matches hosts with one label more than `example.com`. Give at
  ///   least two keys, one of them a spare that is kept elsewhere, or a lost key locks the app out. A host that is not
  ///   named needs no pin. A host has its pins with escapes, in its ASCII form (`xn--…`) and with a dot at its end,
  ///   too.
  /// - Returns: The policy. The new keys of a host replace its earlier ones.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if a host is invalid, has no
  ///   key or is named twice.
  public func pinning(_ pins: [String: some Sequence<PublicKeyPin>]) throws -> TrustPolicy {
    var policy = self
    var named: Set<String> = []
    for (host, keys) in pins {
      let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : host
      guard !name.isEmpty, !name.contains(where: { "/:@*? ".contains($0) }) else {
        throw NetworkError(.invalidTrust, "\"\(host)\" is not a host, such as api.example.com or *.example.com")
      }
      let keys = Set(keys)
      guard !keys.isEmpty else {
        throw NetworkError(.invalidTrust, "no key is pinned for \(host); leave the host out if it needs none")
      }
      let place = (host.hasPrefix("*.") ? "*." : "") + TrustPolicy.name(name)
      guard named.insert(place).inserted else {
        throw NetworkError(.invalidTrust, "keys are pinned for \(place) twice, once as \(host); name a host once")
      }
      policy.pins[place] = keys
    }
    return policy
  }
}

// MARK: - Decisions

extension TrustPolicy {
  /// Whether it is only the system's policy, which every transport supports.
  package var isSystem: Bool { if case .system = basis { pins.isEmpty } else { false } }

}

extension NetworkError.Code {
  /// A certificate, a pin or an identity of the settings is malformed.
  public static let invalidTrust = NetworkError.Code(rawValue: "invalidTrust")
  /// The transport does not support the trust policy or a client identity.
  public static let unsupportedTrust = NetworkError.Code(rawValue: "unsupportedTrust")
}
