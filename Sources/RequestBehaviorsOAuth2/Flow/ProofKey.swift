import RequestBehaviors

/// The proof key of a code exchange, always by the method S256 (RFC 7636).
enum ProofKey {
  /// Returns a new verifier: 44 characters, which hold 256 bits (§4.1).
  static func makeVerifier() -> String { Nonce.make() + Nonce.make() }

  /// Returns the challenge of a verifier (§4.2).
  static func challenge(of verifier: String) -> String { Base64URL.encode(Digest.sha256(of: verifier).bytes) }
}
