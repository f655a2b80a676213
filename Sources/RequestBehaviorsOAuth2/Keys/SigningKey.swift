import Foundation
import RequestBehaviors

/// A private key that signs JSON Web Signatures, kept wherever a closure can reach it.
///
/// ```swift
/// let key = SigningKey("ES256", keyID: "2026-11") { bytes in
///   try vault.sign(bytes)
/// }
/// ```
///
/// The closure returns the raw signature of RFC 7518 §3: for ES256 the 64 octets of R and S, not the DER form.
public struct SigningKey: Sendable {
  /// Signs bytes.
  public typealias Sign = @Sendable (_ bytes: [UInt8]) async throws -> [UInt8]

  /// The algorithm by its name in RFC 7518 §3.1, such as `ES256`.
  public let algorithm: String
  /// The name of the key, by which the server finds it; `nil` to leave it out.
  public let keyID: String?
  /// The public key, for proofs that carry it; `nil` if they need not.
  public let publicKey: PublicKey?
  private let sign: Sign

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - algorithm: The algorithm by its name in RFC 7518 §3.1.
  ///   - keyID: The name of the key, by which the server finds it.
  ///   - publicKey: The public key; ``DPoPKey`` needs it.
  ///   - sign: Returns the signature of bytes.
  public init(_ algorithm: String, keyID: String? = nil, publicKey: PublicKey? = nil, sign: @escaping Sign) {
    self.algorithm = algorithm
    self.keyID = keyID
    self.publicKey = publicKey
    self.sign = sign
  }

  /// Creates a key for HMAC-SHA256 from a secret that the server has too.
  static func hs256(_ secret: [UInt8]) throws -> SigningKey {
    // RFC 7518 §3.2.
    guard secret.count >= 32 else {
      throw NetworkError(
        .oauth2SigningFailed, "HS256 needs a secret of at least 32 octets (RFC 7518 §3.2), and this has \(secret.count)"
      )
    }
    return SigningKey("HS256") { Array(MessageAuthenticator(.sha256, key: secret).code(for: $0)) }
  }

  /// The number of octets of a signature; `nil` if the algorithm does not fix it.
  private var signatureLength: Int? {
    switch algorithm {
    case "ES256", "ES256K": 64
    case "ES384": 96
    case "ES512": 132
    case "HS256": 32
    case "Ed25519": 64
    default: nil
    }
  }

  /// Returns a token in the compact form (RFC 7515 §3.1).
  ///
  /// - Throws: `NetworkError` of code `oauth2SigningFailed`; `CancellationError`.
  func token(of input: String) async throws -> String {
    guard !algorithm.isEmpty, algorithm.lowercased() != "none" else {
      throw NetworkError(.oauth2SigningFailed, "the algorithm none signs nothing")
    }
    let signature: [UInt8]
    do {
      signature = try await sign(Array(input.utf8))
    } catch let error as CancellationError {
      throw error
    } catch {
      throw NetworkError(
        .oauth2SigningFailed, "the closure of the key threw \(type(of: error))", underlyingError: error)
    }
    if let length = signatureLength, signature.count != length {
      let isDER = signature.first == 0x30 && signature.count > 2 && Int(signature[1]) + 2 == signature.count
      throw NetworkError(
        .oauth2SigningFailed,
        "a signature of \(algorithm) has \(length) octets, and the closure returned \(signature.count)"
          + (isDER ? " in DER; return R and S, 32 octets each for ES256 (RFC 7518 §3.4)" : ""))
    }
    guard !signature.isEmpty else { throw NetworkError(.oauth2SigningFailed, "the closure returned no signature") }
    return input + "." + Base64URL.encode(signature)
  }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
  /// The algorithm and the name of the key.
  public var description: String { keyID.map { "\(algorithm) \($0)" } ?? algorithm }

  /// Only the description: the closure may hold the key.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
