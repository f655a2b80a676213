public import Foundation

/// The SHA-256 hash of a certificate's `SubjectPublicKeyInfo`, by which a public key is pinned (RFC 7469 §2.4).
///
/// This prints the pin of a server:
///
/// ```sh
/// openssl s_client -connect api.example.com:443 </dev/null | openssl x509 -pubkey -noout \
///   | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Sendable, Hashable {
  /// The 32 octets of the hash.
  public let hash: Data

  /// Creates a pin from text.
  ///
  /// - Parameter text: The hash in base64, with or without `sha256/` before it.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidTrust`` if it is not a hash.
  public init(_ text: String) throws {
    let base64 = text.hasPrefix("sha256/") ? String(text.dropFirst(7)) : text
    guard let hash = Data(base64Encoded: base64), hash.count == 32 else {
      throw NetworkError(.invalidTrust, "\"\(text)\" is not a SHA-256 hash in base64, which has 44 characters")
    }
    self.hash = hash
  }

  init(publicKeyInfo: ArraySlice<UInt8>) {
    hash = Data(publicKeyInfo.withUnsafeBytes { HashFunction.sha256.digest(of: $0) })
  }
}

extension PublicKeyPin: CustomStringConvertible {
  /// The hash in base64 after `sha256/`.
  public var description: String { "sha256/\(hash.base64EncodedString())" }
}
