/// A set of field names that is searched by bytes, without regard to ASCII case and without allocating.
struct FieldNameTable: Sendable {
  /// Whether only letters and digits count, so that `api_key`, `apiKey` and `API-Key` are one name.
  private let ignoresPunctuation: Bool
  /// Open addressing by hash; zero is a free slot.
  private var hashes: [UInt64]
  /// For each slot a folded name, written backwards, and whether it matches whole names only.
  private var keys: [(name: [UInt8], isWhole: Bool)]
  /// A bit for each hash of a name's last three characters, so that most names are refused after three steps.
  private var endings: [UInt64]
  private let mask: Int

  /// Creates a set.
  ///
  /// - Parameters:
  ///   - names: The names that match whole or, where trailing words are looked for, as the last words of a longer name.
  ///   - wholeNames: The names that match whole only.
  ///   - ignoresPunctuation: Whether only letters and digits count, and digits not at the end.
  init(_ names: Set<String>, wholeNames: Set<String> = [], ignoringPunctuation ignoresPunctuation: Bool) {
    var size = 16
    while size < (names.count + wholeNames.count) * 4 { size *= 2 }
    self.ignoresPunctuation = ignoresPunctuation
    hashes = Array(repeating: 0, count: size)
    keys = Array(repeating: ([], false), count: size)
    endings = Array(repeating: 0, count: 64)
    mask = size - 1
    for name in wholeNames { insert(name, isWhole: true) }
    for name in names { insert(name, isWhole: false) }
  }

  private mutating func insert(_ name: String, isWhole: Bool) {
    let bytes = name.utf8.reversed().drop { ignoresPunctuation && ($0.isASCIIDigit || $0.isASCIIPunctuation) }
    let key = bytes.filter { !(ignoresPunctuation && $0.isASCIIPunctuation) }.map(\.lowercasedASCII)
    guard !key.isEmpty else { return }
    let hash = key.reduce(Self.seed, Self.combine)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while hashes[slot] != 0, keys[slot].name != key { slot = (slot + 1) & mask }
    hashes[slot] = hash
    keys[slot] = (key, isWhole)
    if key.count < 3 {
      endings = Array(repeating: .max, count: 64)
    } else {
      let ending = Self.ending(key[..<3].reduce(Self.seed, Self.combine))
      endings[ending >> 6] |= 1 << UInt64(ending & 63)
    }
  }

  /// Whether the name is in the set.
  func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { search(name, trailingWords: false) }

  /// Whether the name, or the last of the words that it is made of, is in the set: `newPassword` ends in `password`.
  func containsEnding(of name: UnsafeBufferPointer<UInt8>) -> Bool { search(name, trailingWords: true) }

  /// Whether the name is in the set.
  func contains(_ name: some StringProtocol) -> Bool {
    name.utf8.withContiguousStorageIfAvailable { contains($0) } ?? Array(name.utf8).withUnsafeBufferPointer(contains)
  }

  private func search(_ name: UnsafeBufferPointer<UInt8>, trailingWords: Bool) -> Bool {
    var end = name.count
    var first = 0
    if ignoresPunctuation {
      while end > 0, name[end - 1].isASCIIDigit || name[end - 1].isASCIIPunctuation { end -= 1 }
      while first < end, name[first].isASCIIPunctuation { first += 1 }
    }
    var hash = Self.seed
    var length = 0
    var index = end
    while index > first {
      index -= 1
      if ignoresPunctuation, name[index].isASCIIPunctuation { continue }
      hash = Self.combine(hash, name[index].lowercasedASCII)
      length += 1
      if length == 3, !mayEnd(hash) { return false }
      guard index == first || (trailingWords && startsWord(name, at: index)) else { continue }
      if holds(name, first: first, from: index, to: end, length: length, hash: hash) { return true }
    }
    return false
  }

  private func mayEnd(_ hash: UInt64) -> Bool {
    let ending = Self.ending(hash)
    return endings[ending >> 6] & (1 << UInt64(ending & 63)) != 0
  }

  private func startsWord(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    let before = name[index - 1]
    return before.isASCIIPunctuation || (name[index].isASCIIUppercase && !before.isASCIIUppercase)
  }

  private func holds(
    _ name: UnsafeBufferPointer<UInt8>, first: Int, from start: Int, to end: Int, length: Int, hash: UInt64
  ) -> Bool {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while hashes[slot] != 0 {
      if hashes[slot] == hash, keys[slot].name.count == length, start == first || !keys[slot].isWhole,
        isEqual(keys[slot].name, name, end: end)
      {
        return true
      }
      slot = (slot + 1) & mask
    }
    return false
  }

  private func isEqual(_ key: [UInt8], _ name: UnsafeBufferPointer<UInt8>, end: Int) -> Bool {
    var index = end
    for byte in key {
      repeat { index -= 1 } while index >= 0 && ignoresPunctuation && name[index].isASCIIPunctuation
      guard index >= 0, name[index].lowercasedASCII == byte else { return false }
    }
    return true
  }

  private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325

  private static func combine(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    (hash ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
  }

  private static func ending(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 52) }
}

extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Every ASCII character but letters and digits; bytes of other characters count as letters.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}
