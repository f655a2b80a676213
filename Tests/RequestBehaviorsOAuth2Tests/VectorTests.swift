import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@testable import RequestBehaviorsOAuth2

/// The examples of the RFCs.
@Suite(.limited) struct VectorTests {
  @Test func `the challenge is that of RFC 7636 App. B`() {
    #expect(
      ProofKey.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test func `a verifier has 44 unreserved characters`() {
    let verifier = ProofKey.makeVerifier()
    #expect(verifier.utf8.count == 44)
    #expect(verifier.utf8.allSatisfy(PercentEncoding.isUnreserved))
    #expect(verifier != ProofKey.makeVerifier())
  }

  @Test func `id and secret are encoded as in RFC 6749 §2.3.1`() {
    #expect(
      TokenEndpoint.basic("s6BhdRkqt3", "7Fjfp0ZBr1KtDRbnfVdmIw")
        == "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3")
  }

  @Test func `id and secret are form-encoded before they are joined`() {
    #expect(TokenEndpoint.basic("a:b", "1+1=2") == "Basic " + Data("a%3Ab:1%2B1%3D2".utf8).base64EncodedString())
  }

  @Test func `the hash of the token is that of RFC 9449 §7`() {
    let proof = DPoPProof(
      jti: "e1j3V_bKic8-LAEB_lccD0", method: "GET", url: url("https://resource.example.org/protectedresource"),
      date: Date(timeIntervalSince1970: 1_562_262_618),
      token: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU", nonce: nil)
    #expect(proof.ath == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    #expect(proof.htu == "https://resource.example.org/protectedresource")
    #expect(proof.htm == "GET")
    #expect(proof.iat == 1_562_262_618)
  }

  @Test(arguments: [Double.nan, .infinity, 1e30, -1e30])
  func `a proof of a date that no number of seconds fits has the time 0`(seconds: Double) {
    let proof = DPoPProof(
      jti: "1", method: "GET", url: url("https://a.example/"), date: Date(timeIntervalSince1970: seconds), token: nil,
      nonce: nil)
    #expect(proof.iat == 0)
  }

  private static let jwk = #"""
    {"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
    "crv":"P-256","d":"the private part"}
    """#

  @Test func `the thumbprint is that of RFC 9449 §6_1`() throws {
    let key = try PublicKey(json: Data(Self.jwk.utf8))
    #expect(key.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
  }

  @Test func `the public key has no member of the private key`() throws {
    let key = try PublicKey(json: Data(Self.jwk.utf8))
    #expect(key.members.keys.sorted() == ["crv", "kty", "x", "y"])
  }

  static let targets = [
    ("HTTPS://Shop.Example:443", "https://shop.example/"), ("http://a:80/x?y=1#z", "http://a/x"),
    ("https://me:pw@a/x", "https://a/x"), ("https://a:8443/x%20y/", "https://a:8443/x%20y/"),
    ("https://[::1]/a", "https://[::1]/a"),
  ]
  @Test(arguments: targets) func `the target of a proof is normalized`(text: String, target: String) {
    #expect(DPoPProof.target(url(text)) == target)
  }

  @Test func `base64url has no padding, and is read strictly`() {
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    #expect(Base64URL.decode("-_8") == [0xFB, 0xFF])
    for wrong in ["-_8=", "+/8", "-_9", "a", "ä"] { #expect(Base64URL.decode(wrong) == nil, "\(wrong)") }
  }
}
