public import Foundation

/// A hash or an authentication code, for a behavior that signs requests as an API wants it.
///
/// ```swift
/// let hash = Digest.sha256(of: body).hexadecimal
/// let code = Digest.hmacSHA256(of: text, key: Data(secret.utf8))
/// request.headers.set("X-Signature", code.base64, sensitive: .baseURL)
/// ```
///
/// Comparing two takes the same time wherever they differ, so that a comparison does not help to guess a code.
public struct Digest: Sendable, Hashable {
  /// The octets: 20 of SHA-1, 32 of SHA-256.
  public let bytes: Data

  init(_ octets: [UInt8]) { bytes = Data(octets) }

  /// Creates a digest of hexadecimal digits, such as the code in a field that a server sent.
  ///
  /// - Parameter text: An even number of digits, in either case; any other text makes `nil`.
  public init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  /// Creates a digest of Base64 (RFC 4648 §4); `nil` for any other text.
  public init?(base64 text: String) {
    guard let data = Data(base64Encoded: text) else { return nil }
    bytes = data
  }

  /// Returns the SHA-256 hash of bytes (FIPS 180-4).
  public static func sha256(of data: Data) -> Digest { hash(data, by: .sha256) }

  /// Returns the SHA-256 hash of a text in UTF-8 (FIPS 180-4).
  public static func sha256(of text: String) -> Digest { sha256(of: Data(text.utf8)) }

  /// Returns the SHA-1 hash of bytes (FIPS 180-4), for APIs that still ask for it: it no longer protects from a forger.
  public static func sha1(of data: Data) -> Digest { hash(data, by: .sha1) }

  /// Returns the SHA-1 hash of a text in UTF-8; see ``sha1(of:)-(Data)``.
  public static func sha1(of text: String) -> Digest { sha1(of: Data(text.utf8)) }

  /// Returns the HMAC-SHA256 of bytes (RFC 2104).
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - key: The key, of any length.
  /// - Returns: The authentication code.
  public static func hmacSHA256(of data: Data, key: Data) -> Digest { code(data, key, by: .sha256) }

  /// Returns the HMAC-SHA256 of a text in UTF-8 (RFC 2104).
  public static func hmacSHA256(of text: String, key: Data) -> Digest { hmacSHA256(of: Data(text.utf8), key: key) }

  /// Returns the HMAC-SHA1 of bytes (RFC 2104), for APIs that still ask for it.
  public static func hmacSHA1(of data: Data, key: Data) -> Digest { code(data, key, by: .sha1) }

  /// Returns the HMAC-SHA1 of a text in UTF-8 (RFC 2104), for APIs that still ask for it.
  public static func hmacSHA1(of text: String, key: Data) -> Digest { hmacSHA1(of: Data(text.utf8), key: key) }

  /// The octets in hexadecimal digits, in lower case.
  public var hexadecimal: String { Array(bytes).hexadecimal }

  /// The octets in Base64 (RFC 4648 §4).
  public var base64: String { bytes.base64EncodedString() }

  /// Whether two digests are the same; the time does not depend on where they differ.
  public static func == (left: Digest, right: Digest) -> Bool {
    guard left.bytes.count == right.bytes.count else { return false }
    return zip(left.bytes, right.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func hash(_ data: Data, by function: HashFunction) -> Digest {
    Digest(data.withUnsafeBytes { function.digest(of: $0) })
  }

  private static func code(_ data: Data, _ key: Data, by function: HashFunction) -> Digest {
    Digest(data.withUnsafeBytes { MessageAuthenticator(function, key: Array(key)).code(for: $0) })
  }
}

extension Digest: CustomStringConvertible {
  /// The octets in hexadecimal digits.
  public var description: String { hexadecimal }
}
