public import Foundation

/// A certificate and its private key, which identify a client to a server.
///
/// ```swift
/// let identity = try ClientIdentity(
///   pkcs12: file, passphrase: passphrase,
///   hosts: ["api.example.com"])
/// let transport = URLSessionTransport(
///   configuration: .init(identity: identity))
/// ```
///
/// It is read from PKCS #12, from PEM or from DER. No description of it shows the key or the passphrase.
///
/// On Apple's platforms URLSession accepts only an identity of the system, so use PKCS #12 there. The system makes an
/// identity of a certificate and a key in PEM or DER only in the keychain, so with these every send fails with
/// ``NetworkError/Code-swift.struct/unsupportedTrust``. On macOS reading a PKCS #12 file adds to the user's keychain
/// too (Apple: "SecPKCS12Import(_:_:_:)"). The transport over libcurl takes all three forms.
public struct ClientIdentity: Sendable {
  /// The bytes of an identity.
  package enum Content: Sendable {
    case pkcs12(Data, passphrase: String)
    /// The client's own certificate, whose key is given, and the certificates that lead from it to an authority.
    case certificates([X509Certificate], key: PrivateKey)
  }

  /// The hosts that get the identity, in lower case and in ASCII.
  public let hosts: Set<String>

  package let content: Content

  /// Returns whether a host gets the identity, however the host is spelled.
  package func isFor(_ host: String) -> Bool { hosts.contains(HostName.canonical(host)) }

  /// Creates an identity from PKCS #12.
  ///
  /// - Parameters:
  ///   - pkcs12: The bytes of a `.p12` file (RFC 7292).
  ///   - passphrase: The passphrase of the file.
  ///   - hosts: The hosts that get the identity when they ask. The certificate would identify the user to other hosts.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if it is not PKCS #12, or there
  ///   is no host. A wrong passphrase fails at the first use.
  public init(pkcs12: Data, passphrase: String, hosts: Set<String>) throws {
    guard ClientIdentity.isPKCS12(Array(pkcs12)) else {
      throw NetworkError(
        .invalidTrust, "the \(pkcs12.count) bytes are not a PKCS #12 container; make them with openssl pkcs12 -export")
    }
    try self.init(.pkcs12(pkcs12, passphrase: passphrase), hosts)
  }

  /// Creates an identity from text in PEM.
  ///
  /// - Parameters:
  ///   - pem: The text (RFC 7468): the client's certificate, the private key, and any certificates that lead from the
  ///     first to an authority. The key has no passphrase and is before or after them.
  ///   - hosts: The hosts that get the identity when they ask.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if the text lacks one of them,
  ///   the key has a passphrase or belongs to another certificate, or there is no host.
  public init(pem: String, hosts: Set<String>) throws {
    let keys = PrivateKey.Form.allCases.flatMap { PEM.blocks($0.rawValue, in: pem) }
    guard !pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----"), !pem.contains("Proc-Type: 4,ENCRYPTED") else {
      throw NetworkError(
        .invalidTrust, "the private key has a passphrase; take it off with openssl pkey, or use PKCS #12")
    }
    guard keys.count == 1, let key = keys[0] else {
      throw NetworkError(
        .invalidTrust,
        keys.isEmpty
          ? "the text has no line -----BEGIN PRIVATE KEY-----"
          : "the text holds \(keys.count) private keys, or one that is not whole; give one whole key")
    }
    try self.init(certificates: X509Certificate.certificates(pem: pem), privateKey: key, hosts: hosts)
  }

  /// Creates an identity from certificates and a private key.
  ///
  /// - Parameters:
  ///   - certificates: The client's certificate, and any that lead from it to an authority.
  ///   - privateKey: The key of the first certificate in DER: PKCS #8, PKCS #1 or SEC 1, without a passphrase.
  ///   - hosts: The hosts that get the identity when they ask.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if there is no certificate, the
  ///   key is invalid or belongs to another certificate, or there is no host.
  public init(certificates: [X509Certificate], privateKey: Data, hosts: Set<String>) throws {
    guard let own = certificates.first else {
      throw NetworkError(.invalidTrust, "the identity has no certificate; give the client's own first")
    }
    guard let key = PrivateKey(der: privateKey) else {
      throw NetworkError(
        .invalidTrust,
        "the \(privateKey.count) bytes are not a private key in DER (PKCS #8, PKCS #1 or SEC 1); one with a passphrase goes "
          + "into a PKCS #12")
    }
    guard key.matches(own.publicKey) != false else {
      throw NetworkError(
        .invalidTrust, "the private key is not that of the first certificate, which has the key \(own.publicKeyPin)")
    }
    try self.init(.certificates(certificates, key: key), hosts)
  }

  private init(_ content: Content, _ hosts: Set<String>) throws {
    guard !hosts.isEmpty else { throw NetworkError(.invalidTrust, "the identity has no host that gets it") }
    self.content = content
    self.hosts = Set(hosts.map(HostName.canonical))
  }

  /// Returns whether bytes begin like a `PFX` of version 3 (RFC 7292 §4).
  private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
    var outer = DERReader(bytes[...])
    guard let file = outer.next(DERReader.sequence) else { return false }
    var parts = DERReader(file.content)
    return parts.next()?.whole.elementsEqual([0x02, 0x01, 0x03]) == true
  }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The hosts that get the identity.
  public var description: String { "client identity for \(hosts.sorted().joined(separator: ", "))" }

  /// The description, because dumping an identity must not show the key.
  public var debugDescription: String { description }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
