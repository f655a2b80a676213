public import Foundation

/// A certificate and its private key, by which a client shows a server who it is.
///
/// ```swift
/// let identity = try ClientIdentity(
///   pkcs12: file, passphrase: passphrase,
///   hosts: ["api.example.com"])
/// let transport = URLSessionTransport(
///   configuration: .init(identity: identity))
/// ```
///
/// No description of it shows the key or the passphrase. Over URLSession on macOS the system also adds it to the user's
/// keychain when it is read (Apple: "SecPKCS12Import").
public struct ClientIdentity: Sendable {
  /// The hosts that get it, in lower case.
  public let hosts: Set<String>

  let pkcs12: Data
  let passphrase: String

  /// Creates an identity.
  ///
  /// - Parameters:
  ///   - pkcs12: What a `.p12` file holds (RFC 7292).
  ///   - passphrase: What opens it.
  ///   - hosts: The hosts that get it when they ask; a certificate tells others who the user is.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if it is no PKCS #12, or there is
  ///   no host. Whether the passphrase opens it shows at the first use.
  public init(pkcs12: Data, passphrase: String, hosts: Set<String>) throws {
    guard ClientIdentity.isPKCS12(Array(pkcs12)) else {
      throw NetworkError(
        .invalidTrust, "the \(pkcs12.count) bytes are no PKCS #12; make them with openssl pkcs12 -export")
    }
    guard !hosts.isEmpty else { throw NetworkError(.invalidTrust, "the identity has no host that gets it") }
    self.pkcs12 = pkcs12
    self.passphrase = passphrase
    self.hosts = Set(hosts.map { $0.lowercased() })
  }

  /// Whether bytes begin as a `PFX` of version 3 (RFC 7292 §4).
  private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
    var outer = DERReader(bytes[...])
    guard let file = outer.next(DERReader.sequence) else { return false }
    var parts = DERReader(file.content)
    return parts.next()?.whole.elementsEqual([0x02, 0x01, 0x03]) == true
  }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The hosts that get it.
  public var description: String { "client identity for \(hosts.sorted().joined(separator: ", "))" }

  /// The description: dumping an identity must not show it.
  public var debugDescription: String { description }

  /// Only what the description shows.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
