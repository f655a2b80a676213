import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct DigestTests {
  @Test func `hashes are those of FIPS 180-4`() {
    #expect(
      Digest.sha256(of: "abc").hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Digest.sha1(of: "abc").hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(Digest.sha256(of: Data()).base64 == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    #expect("\(Digest.sha1(of: Data()))" == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
  }

  @Test func `codes are those of RFC 2202 and RFC 4231`() {
    let (key, text) = (Data("Jefe".utf8), "what do ya want for nothing?")
    #expect(Digest.hmacSHA1(of: text, key: key).hexadecimal == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    #expect(
      Digest.hmacSHA256(of: text, key: key).hexadecimal
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(Digest.hmacSHA256(of: text, key: key) == .hmacSHA256(of: Data(text.utf8), key: key))
    #expect(Digest.hmacSHA1(of: text, key: key) == .hmacSHA1(of: Data(text.utf8), key: key))
    // Longer than a block.
    #expect(
      Digest.hmacSHA256(
        of: "Test Using Larger Than Block-Size Key - Hash Key First", key: Data(repeating: 0xaa, count: 131)
      ).hexadecimal == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test func `digests of different bytes or lengths differ`() {
    #expect(Digest.sha256(of: "a") != .sha256(of: "b"))
    #expect(Digest.sha256(of: "a") != .sha1(of: "a"))
    #expect(Set([Digest.sha1(of: "a"), .sha1(of: "a"), .sha1(of: "b")]).count == 2)
  }

  @Test func `ten thousand digests all differ`() {
    let digests = (0..<10_000).map { Digest.sha256(of: "\($0)") }
    let one = Digest.sha256(of: "another")
    #expect(digests.allSatisfy { $0 != one })
    #expect(digests.allSatisfy { one != $0 })
    #expect(zip(digests, digests).allSatisfy { $0 == $1 })
  }

  @Test func `a digest is made of the text that a server sent`() {
    let code = Digest.hmacSHA256(of: "a", key: Data("k".utf8))
    #expect(Digest(hexadecimal: code.hexadecimal) == code)
    #expect(Digest(hexadecimal: code.hexadecimal.uppercased()) == code)
    #expect(Digest(base64: code.base64) == code)
    #expect(Digest(hexadecimal: String(code.hexadecimal.dropLast(2))) != code)
    for text in ["0", "0g", "+1", " 01", "0x01", "é1"] { #expect(Digest(hexadecimal: text) == nil) }
    for text in ["a", "a b=", "=", "-_--"] { #expect(Digest(base64: text) == nil) }
  }

  @Test func `a slice of data is hashed by its own bytes`() {
    let data = Data("xxabc".utf8)
    #expect(Digest.sha256(of: data.dropFirst(2)) == .sha256(of: "abc"))
  }

  @Test func `a file has the hash of its contents, and one that cannot be read is an error`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let data = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0) })
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try await Digest.sha256(ofFile: file) == .sha256(of: data))
    let error = await #expect(throws: NetworkError.self) {
      try await Digest.sha256(ofFile: file.appendingPathExtension("no"))
    }
    #expect(error?.code == .bodyUnreadable)
  }
}
