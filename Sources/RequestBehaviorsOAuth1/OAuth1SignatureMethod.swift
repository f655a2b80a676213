public import Foundation
import RequestBehaviors

/// The way to sign a request: the value of `oauth_signature_method` and its algorithm (RFC 5849 §3.4).
///
/// The service's documentation says which method it expects; most take ``hmacSHA1``. The RSA methods sign with a
/// private key that stays in your key store:
///
/// ```swift
/// let method = OAuth1SignatureMethod.rsaSHA1 { baseString in
///   // RSASSA-PKCS1-v1_5 over SHA-1 of the octets
///   try keyStore.sign(baseString)
/// }
/// ```
public struct OAuth1SignatureMethod: Sendable, CustomStringConvertible {
  /// Signs the octets of a signature base string.
  public typealias Signer = @Sendable (_ baseString: Data) throws -> Data

  enum Kind: Sendable {
    case hmac
    case plaintext
    case rsa(Signer)
  }

  /// The method's name as it is sent.
  public let name: String
  let kind: Kind
  let hashFunction: HashFunction

  var isPlaintext: Bool { if case .plaintext = kind { true } else { false } }
  var isRSA: Bool { if case .rsa = kind { true } else { false } }

  private init(_ name: String, _ kind: Kind, _ hashFunction: HashFunction) {
    self.name = name
    self.kind = kind
    self.hashFunction = hashFunction
  }

  /// HMAC with SHA-1 over both secrets, `HMAC-SHA1` (RFC 5849 §3.4.2).
  public static let hmacSHA1 = OAuth1SignatureMethod("HMAC-SHA1", .hmac, .sha1)

  /// HMAC with SHA-256, `HMAC-SHA256`: not in the RFC, but made in the same way and common.
  public static let hmacSHA256 = OAuth1SignatureMethod("HMAC-SHA256", .hmac, .sha256)

  /// Both secrets themselves, `PLAINTEXT` (RFC 5849 §3.4.4); refused over http unless the options allow it.
  public static let plaintext = OAuth1SignatureMethod("PLAINTEXT", .plaintext, .sha1)

  /// RSASSA-PKCS1-v1_5 with SHA-1, `RSA-SHA1` (RFC 5849 §3.4.3).
  ///
  /// - Parameter sign: Returns the signature of the base string's octets, unencoded. Its error is the cause of the
  ///   `NetworkError.Code.oauth1SigningFailed` with which the request fails.
  /// - Returns: A method that does not use the secrets.
  public static func rsaSHA1(_ sign: @escaping Signer) -> OAuth1SignatureMethod {
    OAuth1SignatureMethod("RSA-SHA1", .rsa(sign), .sha1)
  }

  /// RSASSA-PKCS1-v1_5 with SHA-256, `RSA-SHA256`: not in the RFC, but made in the same way and common.
  ///
  /// - Parameter sign: Returns the signature of the base string's octets, unencoded. Its error is the cause of the
  ///   `NetworkError.Code.oauth1SigningFailed` with which the request fails.
  /// - Returns: A method that does not use the secrets.
  public static func rsaSHA256(_ sign: @escaping Signer) -> OAuth1SignatureMethod {
    OAuth1SignatureMethod("RSA-SHA256", .rsa(sign), .sha256)
  }

  /// The method's name as it is sent.
  public var description: String { name }
}
