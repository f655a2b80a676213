package import Foundation

/// Decides whether a server has a pinned key.
extension TrustPolicy {
  /// Returns why the pins refuse a chain of certificates that is trusted otherwise; `nil` if they do not.
  ///
  /// - Parameters:
  ///   - chain: The certificates in DER.
  ///   - host: The host that was connected to.
  /// - Returns: The message, or `nil`.
  package func pinObjection(to chain: [Data], of host: String) -> String? {
    guard let wanted = pins(for: host) else { return nil }
    let found = chain.compactMap { try? X509Certificate(der: $0).publicKeyPin }
    if found.contains(where: wanted.contains) { return nil }
    let names = found.map(\.description).joined(separator: ", ")
    return "no key of \(host) is pinned; its certificates have \(names.isEmpty ? "none that can be read" : names)"
  }

  /// Whether keys are pinned for any host.
  package var hasPins: Bool { !pins.isEmpty }

  /// Returns the keys that are pinned for a host; `nil` if the host has no pins.
  package func pins(for host: String) -> Set<PublicKeyPin>? {
    let host = TrustPolicy.name(host)
    if let pins = pins[host] { return pins }
    guard let dot = host.firstIndex(of: ".") else { return nil }
    return pins["*" + host[dot...]]
  }

  /// Returns the spelling by which a host has its pins.
  ///
  /// A dot at the end of a name makes another origin. Certificates are compared without it, so pins are, too.
  static func name(_ host: String) -> String {
    let name = HostName.canonical(host)
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}
