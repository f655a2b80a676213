public import Foundation
import RequestBehaviors

/// A public key as a JSON Web Key (RFC 7517), with the members that name the key and no others.
///
/// ```swift
/// let publicKey = PublicKey.ec(x: point[1..<33], y: point[33..<65])
/// ```
public struct PublicKey: Sendable, Hashable, Codable {
  /// The members by name, such as `kty`, `crv`, `x` and `y`.
  public let members: [String: String]

  private init(_ members: [String: String]) { self.members = members }

  /// Creates a key on an elliptic curve from the coordinates of its point (RFC 7518 §6.2).
  ///
  /// - Parameters:
  ///   - curve: The name of the curve; by default `P-256`, the curve of ES256.
  ///   - x: The x coordinate, 32 octets on P-256.
  ///   - y: The y coordinate, as many.
  /// - Returns: The key.
  public static func ec(_ curve: String = "P-256", x: some Collection<UInt8>, y: some Collection<UInt8>) -> PublicKey {
    PublicKey(["kty": "EC", "crv": curve, "x": Base64URL.encode(x), "y": Base64URL.encode(y)])
  }

  /// Creates a key of the Edwards curves (RFC 8037 §2).
  ///
  /// - Parameters:
  ///   - curve: The name of the curve; by default `Ed25519`.
  ///   - x: The public key, 32 octets of Ed25519.
  /// - Returns: The key.
  public static func okp(_ curve: String = "Ed25519", x: some Collection<UInt8>) -> PublicKey {
    PublicKey(["kty": "OKP", "crv": curve, "x": Base64URL.encode(x)])
  }

  /// Creates an RSA key (RFC 7518 §6.3).
  ///
  /// - Parameters:
  ///   - modulus: The modulus, without leading zeros.
  ///   - exponent: The exponent, without leading zeros.
  /// - Returns: The key.
  public static func rsa(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) -> PublicKey {
    PublicKey(["kty": "RSA", "n": Base64URL.encode(modulus), "e": Base64URL.encode(exponent)])
  }

  /// Creates a key from its JSON; members that do not name the key, such as those of the private key, are dropped.
  ///
  /// - Parameter json: The JSON Web Key.
  /// - Throws: `NetworkError` of code `oauth2SigningFailed` if it is no public key of kind EC, OKP or RSA.
  public init(json: Data) throws {
    let names = ["EC": ["crv", "kty", "x", "y"], "OKP": ["crv", "kty", "x"], "RSA": ["e", "kty", "n"]]
    guard let object = JSONObject(json), let kind = object.text("kty"), let wanted = names[kind] else {
      throw NetworkError(.oauth2SigningFailed, "the JSON Web Key has no kty of EC, OKP or RSA")
    }
    var members: [String: String] = [:]
    for name in wanted {
      guard let value = object.text(name), !value.isEmpty else {
        throw NetworkError(.oauth2SigningFailed, "the JSON Web Key lacks \(name), which its kind \(kind) has")
      }
      members[name] = value
    }
    self.members = members
  }

  /// The SHA-256 thumbprint in base64url (RFC 7638 §3).
  public var thumbprint: String {
    // RFC 7638 §3.3: the members in lexicographic order, without white space. No value needs an escape.
    let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
    return Base64URL.encode(Digest.sha256(of: "{\(text)}").bytes)
  }

  /// Encodes the members.
  public func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

  /// Decodes the members, as ``init(json:)`` does.
  public init(from decoder: any Decoder) throws {
    try self.init(json: JSONEncoder().encode([String: String](from: decoder)))
  }
}
