/// What a look at a text tells of the secrets that it may hold.
struct TextShape {
  /// Whether an escape may stand in it, of percent-encoding, JSON or XML.
  private let hasEscapes: Bool
  private let hasPlus: Bool
  /// How many characters of base64 follow each other at most.
  private let longestRun: Int

  init(_ text: UnsafeBufferPointer<UInt8>) {
    var (hasEscapes, hasAmpersand, hasSemicolon, hasPlus) = (false, false, false, false)
    var (run, longestRun) = (0, 0)
    for byte in text {
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "\\"): hasEscapes = true
      case UInt8(ascii: "&"): hasAmpersand = true
      case UInt8(ascii: ";"): hasSemicolon = true
      case UInt8(ascii: "+"): hasPlus = true
      default: break
      }
      run = byte.isBase64 ? run + 1 : 0
      longestRun = max(longestRun, run)
    }
    self.hasEscapes = hasEscapes || (hasAmpersand && hasSemicolon)
    self.hasPlus = hasPlus
    self.longestRun = longestRun
  }

  /// Whether the text may hold a secret as it is, with escapes or within base64; false is certain, true is not.
  func mayHold(_ secret: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    // No encoding is shorter than what it encodes.
    guard text.count >= secret.count else { return false }
    if hasEscapes || (hasPlus && secret.contains(UInt8(ascii: " "))) { return true }
    // Of base64 all but four characters are the same whatever stands around the secret.
    if longestRun >= secret.count * 4 / 3 - 3 { return true }
    return TextShape.contains(secret, in: text)
  }

  private static func contains(_ secret: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = secret.first else { return true }
    var place = 0
    while place + secret.count <= text.count {
      if text[place] == first, text[place...].starts(with: secret) { return true }
      place += 1
    }
    return false
  }
}
