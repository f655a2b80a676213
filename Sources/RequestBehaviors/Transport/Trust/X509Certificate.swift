public import Foundation

/// A certificate of a server or an authority (RFC 5280).
///
/// Only its form is checked. A transport decides whether it is trusted.
public struct X509Certificate: Sendable, Hashable {
  /// The certificate in DER.
  public let der: Data

  /// The hash of its public key, by which it is pinned.
  public let publicKeyPin: PublicKeyPin

  /// Creates a certificate from its bytes.
  ///
  /// - Parameter der: The certificate in DER.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust``.
  public init(der: Data) throws {
    guard let key = X509Certificate.publicKeyInfo(in: Array(der)) else {
      throw NetworkError(
        .invalidTrust, "the \(der.count) bytes are not a certificate in DER; a text with BEGIN CERTIFICATE is PEM")
    }
    self.der = der
    publicKeyPin = PublicKeyPin(publicKeyInfo: key)
  }

  /// Creates the certificates of a text in PEM, in its order; other blocks in it are left out.
  ///
  /// - Parameter pem: The text (RFC 7468 §5), such as the contents of a `.pem` file.
  /// - Returns: At least one certificate.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust``.
  public static func certificates(pem: String) throws -> [X509Certificate] {
    let blocks = PEM.blocks("CERTIFICATE", in: pem)
    guard !blocks.isEmpty else {
      throw NetworkError(.invalidTrust, "the text has no line -----BEGIN CERTIFICATE-----")
    }
    return try blocks.enumerated().map { index, block in
      guard let block else {
        throw NetworkError(.invalidTrust, "certificate \(index + 1) of the text is not whole or not base64")
      }
      return try X509Certificate(der: block)
    }
  }

  /// The certificate in PEM (RFC 7468 §5).
  package var pem: String { PEM.text(der, label: "CERTIFICATE") }

  /// The bits of its `subjectPublicKey` (RFC 5280 §4.1.2.7).
  package var publicKey: ArraySlice<UInt8> {
    guard let info = X509Certificate.publicKeyInfo(in: Array(der)) else { return [] }
    var outer = DERReader(info)
    guard let list = outer.next(DERReader.sequence) else { return [] }
    var fields = DERReader(list.content)
    _ = fields.next(DERReader.sequence)  // The algorithm.
    // The first octet is the number of unused bits in the last octet: 0.
    return fields.next(DERReader.bitString)?.content.dropFirst() ?? []
  }

  /// The `SubjectPublicKeyInfo` of a certificate, with its head (RFC 5280 §4.1).
  private static func publicKeyInfo(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    var outer = DERReader(bytes[...])
    guard let certificate = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
    var parts = DERReader(certificate.content)
    guard let body = parts.next(DERReader.sequence) else { return nil }
    var fields = DERReader(body.content)
    _ = fields.next(0xA0)  // The version; it is left out in the first one.
    guard fields.next(DERReader.integer) != nil else { return nil }  // The serial number.
    // The signature's algorithm, the issuer, the validity and the subject.
    for _ in 0..<4 { guard fields.next(DERReader.sequence) != nil else { return nil } }
    return fields.next(DERReader.sequence)?.whole
  }
}

extension X509Certificate: CustomStringConvertible {
  /// The hash of the certificate's public key.
  public var description: String { "certificate with the key \(publicKeyPin)" }
}
