import Foundation
import RequestBehaviors
import Testing

/// FIPS 180-4 with NIST's examples, RFC 2202 and RFC 4231.
@Suite(.limited) struct HashFunctionTests {
  @Test(arguments: [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "a49b2446a02c645bf419f995b67091253a04a259"
    ),
  ])
  func `SHA-1 agrees with the published examples`(text: String, digest: String) {
    #expect(hex(HashFunction.sha1.digest(of: Array(text.utf8))) == digest)
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `SHA-256 agrees with the published examples`(text: String, digest: String) {
    #expect(hex(HashFunction.sha256.digest(of: Array(text.utf8))) == digest)
  }

  @Test func `a million letters a hash as published`() {
    let million = [UInt8](repeating: 0x61, count: 1_000_000)
    #expect(hex(HashFunction.sha1.digest(of: million)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    #expect(
      hex(HashFunction.sha256.digest(of: million))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// The expected values are from another implementation (OpenSSL): the hash of all hashes.
  @Test(arguments: [
    (HashFunction.sha1, "6c7885f368345dc4405849c366f7b9b99fc56685"),
    (.sha256, "640879d4e99366e2830069cbfd6586bb6eecafab68544990fea11c742dc14e00"),
  ])
  func `every length from 0 to 260 octets is padded right`(function: HashFunction, digest: String) {
    let all = (0...260).flatMap { function.digest(of: octets($0, seed: 1)) }
    #expect(hex(function.digest(of: all)) == digest)
  }

  @Test(arguments: [
    ([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
    (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    (
      [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
      "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
    ),
    (Array(1...25), [UInt8](repeating: 0xcd, count: 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
    (
      [UInt8](repeating: 0x0c, count: 20), Array("Test With Truncation".utf8),
      "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
    ),
    (
      [UInt8](repeating: 0xaa, count: 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "aa4ae5e15272d00e95705637ce8a3b55ed402112"
    ),
    (
      [UInt8](repeating: 0xaa, count: 80),
      Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
      "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
    ),
  ])
  func `HMAC-SHA1 agrees with RFC 2202`(key: [UInt8], message: [UInt8], code: String) {
    #expect(hex(MessageAuthenticator(.sha1, key: key).code(for: message)) == code)
  }

  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(1...25), [UInt8](repeating: 0xcd, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131),
      Array(
        "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
          .utf8),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ])
  func `HMAC-SHA256 agrees with RFC 4231`(key: [UInt8], message: [UInt8], code: String) {
    #expect(hex(MessageAuthenticator(.sha256, key: key).code(for: message)) == code)
  }

  /// Every key length around the block of 64 octets is among them; expected values as above.
  @Test(arguments: [
    (HashFunction.sha1, "fdf2182492786b35574aebbbb88e8f8d3785eda2"),
    (.sha256, "d8641f77e00bf2d1f6010ffec29d7cfd7c8997952c5f4de0adb19ef31871dc41"),
  ])
  func `every key length from 0 to 200 octets is taken right`(function: HashFunction, digest: String) {
    let all = (0...200).flatMap {
      MessageAuthenticator(function, key: octets($0, seed: 2)).code(for: octets($0 * 3 % 140, seed: 3))
    }
    #expect(hex(function.digest(of: all)) == digest)
  }

  @Test func `one key makes the same code however often it is used`() {
    let authenticator = MessageAuthenticator(.sha1, key: Array("Jefe".utf8))
    let codes = (0..<3).map { _ in authenticator.code(for: Array("what do ya want for nothing?".utf8)) }
    #expect(Set(codes).count == 1)
  }

  private func octets(_ count: Int, seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count * 13 + seed) }
  }

  private func hex(_ octets: [UInt8]) -> String {
    octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
  @Test(arguments: [HashFunction.sha1, .sha256])
  func `a hash of octets in parts is the hash of the whole`(function: HashFunction) {
    let octets = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for length in [0, 1, 55, 56, 63, 64, 65, 119, 128, 400] {
      for part in [1, 3, 63, 64, 65, 400] {
        var hash = RunningHash(function)
        for start in stride(from: 0, to: length, by: part) {
          hash.update(Data(octets[start..<min(start + part, length)]))
        }
        #expect(hash.digest() == function.digest(of: Array(octets[..<length])))
      }
    }
  }
}
