import Foundation
import RequestBehaviors

/// Base64 with the URL alphabet and without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
  /// Returns the text for octets.
  static func encode(_ octets: some Collection<UInt8>) -> String {
    Data(octets).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Returns the octets of a text; `nil` if the text is not exactly the one that ``encode(_:)`` makes.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var base = String(text).replacing("-", with: "+").replacing("_", with: "/")
    base += String(repeating: "=", count: (4 - base.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: base), encode(data) == text else { return nil }
    return Array(data)
  }
}

/// The proof key of a code exchange, always by the method S256 (RFC 7636).
enum ProofKey {
  /// Returns a new verifier: 44 characters, which hold 256 bits (§4.1).
  static func makeVerifier() -> String { Nonce.make() + Nonce.make() }

  /// Returns the challenge of a verifier (§4.2).
  static func challenge(of verifier: String) -> String { Base64URL.encode(Digest.sha256(of: verifier).bytes) }
}

/// Whether two texts are equal; the time does not depend on where they differ.
func areEqualInConstantTime(_ one: String, _ other: String) -> Bool {
  Digest.sha256(of: one) == Digest.sha256(of: other)
}
