/// The facts about a text that tell which secrets it may contain.
struct TextShape {
  /// Whether it may contain an escape of percent-encoding, JSON or XML.
  private let hasEscapes: Bool
  private let hasPlus: Bool
  /// The length of the longest run of base64 characters.
  private let longestRun: Int

  init(_ text: UnsafeBufferPointer<UInt8>) {
    var (hasEscapes, hasAmpersand, hasSemicolon, hasPlus) = (false, false, false, false)
    var (run, longestRun) = (0, 0)
    // One pass over the text serves the checks for all secrets.
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

  /// Whether the text may contain a secret unchanged, with escapes or within base64; false is certain, true is not.
  func mayHold(_ secret: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    // No encoding is shorter than the encoded text.
    guard text.count >= secret.count else { return false }
    if hasEscapes || (hasPlus && secret.contains(UInt8(ascii: " "))) { return true }
    // All but four characters of base64 are the same whatever surrounds the secret.
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
