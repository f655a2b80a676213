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
    let base64 = ASCIISet.base64
    // One pass over the text serves the checks for all secrets.
    for byte in text {
      if base64.contains(byte) {
        run += 1
        if byte == UInt8(ascii: "+") { hasPlus = true }
        continue
      }
      longestRun = max(longestRun, run)
      run = 0
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "\\"): hasEscapes = true
      case UInt8(ascii: "&"): hasAmpersand = true
      case UInt8(ascii: ";"): hasSemicolon = true
      default: break
      }
    }
    self.hasEscapes = hasEscapes || (hasAmpersand && hasSemicolon)
    self.hasPlus = hasPlus
    self.longestRun = max(longestRun, run)
  }

  /// Whether the text may contain a secret unchanged, with escapes or within base64; false is certain, true is not.
  func mayHold(_ secret: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    // No encoding is shorter than the encoded text.
    guard text.count >= secret.count else { return false }
    if hasEscapes || (hasPlus && secret.contains(UInt8(ascii: " "))) { return true }
    // All but four characters of base64 are the same whatever surrounds the secret.
    if longestRun >= secret.count * 4 / 3 - 3, TextShape.containsBase64(of: secret, in: text) { return true }
    return TextShape.contains(secret, in: text)
  }

  /// Whether the text may contain one of many secrets; false is certain, true is not.
  func mayHold(oneOf secrets: SecretBeginnings, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    hasEscapes || hasPlus || secrets.areFound(in: text)
  }

  /// Whether the text has the first characters of a secret's base64.
  private static func containsBase64(
    of secret: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let mask: UInt32 = 0xFF_FFFF
    let (first, second, third) = SecretBeginnings.base64(of: SecretBeginnings.plain(of: secret))
    var (latest, count): (UInt32, Int) = (0, 0)
    for byte in text {
      guard let value = byte.base64Value else {
        count = 0
        continue
      }
      latest = (latest << 6 | value) & mask
      count += 1
      if count >= 4, latest == first || latest == second || latest == third { return true }
    }
    return false
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

/// The beginnings of many secrets, all of which one pass over a text looks for.
struct SecretBeginnings: Sendable {
  private var plain: Set<UInt32> = []
  private var base64: Set<UInt32> = []

  init(of values: [String]) {
    for var value in values {
      let plain = value.withUTF8(SecretBeginnings.plain)
      let base64 = SecretBeginnings.base64(of: plain)
      self.plain.insert(plain)
      self.base64.formUnion([base64.first, base64.second, base64.third])
    }
  }

  /// The first four octets of a secret; none is shorter.
  static func plain(of secret: UnsafeBufferPointer<UInt8>) -> UInt32 {
    secret.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The bits of the first characters in base64.
  ///
  /// A group of base64 is three octets, so a secret begins at one of three places in a group. At each of them, four
  /// characters depend on nothing but 24 of the secret's first 32 bits.
  static func base64(of plain: UInt32) -> (first: UInt32, second: UInt32, third: UInt32) {
    (plain >> 8, plain >> 4 & 0xFF_FFFF, plain >> 6 & 0xFF_FFFF)
  }

  /// Whether one of them is in a text.
  func areFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    var (octets, bits, count): (UInt32, UInt32, Int) = (0, 0, 0)
    for byte in text {
      octets = octets << 8 | UInt32(byte)
      if plain.contains(octets) { return true }
      guard let value = byte.base64Value else {
        count = 0
        continue
      }
      bits = (bits << 6 | value) & 0xFF_FFFF
      count += 1
      if count >= 4, base64.contains(bits) { return true }
    }
    return false
  }
}

extension UInt8 {
  /// The six bits of a character of either alphabet of base64 (RFC 4648 §4, §5); `nil` for any other.
  fileprivate var base64Value: UInt32? {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(self) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(self) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self) + 4
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
