package import Foundation

/// A private key without a passphrase: PKCS #8 (RFC 5958), PKCS #1 (RFC 8017 §A.1.2) or SEC 1 (RFC 5915).
package struct PrivateKey: Sendable {
  /// The form of the key's bytes, by the label of its block in PEM.
  enum Form: String, CaseIterable {
    case pkcs8 = "PRIVATE KEY"
    case pkcs1 = "RSA PRIVATE KEY"
    case sec1 = "EC PRIVATE KEY"
  }

  /// The key itself, without the frame of PKCS #8.
  enum Content {
    /// PKCS #1.
    case rsa(ArraySlice<UInt8>)
    /// SEC 1.
    case ellipticCurve(ArraySlice<UInt8>)
    /// A key of another algorithm.
    case other
  }

  /// The key in DER.
  package let der: Data
  private let form: Form
  let content: Content

  /// Creates a key; `nil` if the bytes are not a key.
  init?(der: Data) {
    var outer = DERReader(Array(der)[...])
    guard let key = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
    var parts = DERReader(key.content)
    guard parts.next(DERReader.integer) != nil, let second = parts.next() else { return nil }
    // All three begin with a version. An algorithm, a modulus or the key's number follows.
    switch second.tag {
    case DERReader.sequence:
      var algorithm = DERReader(second.content)
      guard let name = algorithm.next(DERReader.objectIdentifier), let inner = parts.next(DERReader.octetString)
      else { return nil }
      form = .pkcs8
      switch Array(name.content) {
      case Self.rsaEncryption: content = .rsa(inner.content)
      case Self.ellipticCurvePublicKey: content = .ellipticCurve(inner.content)
      default: content = .other
      }
    case DERReader.integer: (form, content) = (.pkcs1, .rsa(key.whole))
    case DERReader.octetString: (form, content) = (.sec1, .ellipticCurve(key.whole))
    default: return nil
    }
    self.der = der
  }

  /// The key in PEM (RFC 7468 §10, §13).
  package var pem: String { PEM.text(der, label: form.rawValue) }

  // 1.2.840.113549.1.1.1 and 1.2.840.10045.2.1 (RFC 3279 §2.3).
  private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  private static let ellipticCurvePublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
}

// MARK: - The public half

extension PrivateKey {
  /// Compares the key with the bits of a certificate's `subjectPublicKey` (RFC 5280 §4.1.2.7).
  ///
  /// - Parameter publicKey: The bits.
  /// - Returns: Whether they belong together; `nil` if that is unknown.
  func matches(_ publicKey: ArraySlice<UInt8>) -> Bool? {
    switch content {
    case .rsa(let key):
      var outer = DERReader(publicKey)
      guard let list = outer.next(DERReader.sequence) else { return false }
      var numbers = DERReader(list.content)
      return numbers.next(DERReader.integer)?.content == modulus(key)
    case .ellipticCurve(let key): return point(key).map { $0 == publicKey }
    case .other: return nil
    }
  }

  private func modulus(_ key: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var outer = DERReader(key)
    guard let list = outer.next(DERReader.sequence) else { return nil }
    var numbers = DERReader(list.content)
    _ = numbers.next(DERReader.integer)  // The version.
    return numbers.next(DERReader.integer)?.content
  }

  /// Returns the public point of an elliptic curve's key; `nil` if the key leaves it out.
  private func point(_ key: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var outer = DERReader(key)
    guard let list = outer.next(DERReader.sequence) else { return nil }
    var fields = DERReader(list.content)
    _ = fields.next(DERReader.integer)
    _ = fields.next(DERReader.octetString)
    _ = fields.next(0xA0)  // The curve.
    guard let tagged = fields.next(0xA1) else { return nil }
    var bits = DERReader(tagged.content)
    return bits.next(DERReader.bitString)?.content.dropFirst()
  }
}
