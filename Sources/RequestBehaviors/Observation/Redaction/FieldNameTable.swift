/// A set of field names that is searched by bytes, without regard to ASCII case and without allocating.
struct FieldNameTable: Sendable {
  /// Whether only letters and digits count, so that `api_key`, `apiKey` and `API-Key` are one name.
  let ignoresPunctuation: Bool
  /// Open addressing over folded names, each written backwards; an empty slot is free.
  private var slots: [[UInt8]]
  private let mask: Int

  init(_ names: some Collection<String>, ignoringPunctuation: Bool) {
    var size = 16
    while size < names.count * 4 { size *= 2 }
    ignoresPunctuation = ignoringPunctuation
    slots = Array(repeating: [], count: size)
    mask = size - 1
    for name in names { insert(name) }
  }

  private mutating func insert(_ name: String) {
    let folded = Array(name.utf8.reversed()).drop { ignoresPunctuation && $0.isASCIIDigit }
    let key = folded.compactMap { ignoresPunctuation && $0.isASCIIPunctuation ? nil : $0.lowercasedASCII }
    guard !key.isEmpty else { return }
    var slot = Int(truncatingIfNeeded: key.reduce(Self.seed, Self.combine)) & mask
    while !slots[slot].isEmpty, slots[slot] != key { slot = (slot + 1) & mask }
    slots[slot] = key
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
    var hash = Self.seed
    var length = 0
    var end = name.count
    if ignoresPunctuation {
      while end > 0, name[end - 1].isASCIIDigit || name[end - 1].isASCIIPunctuation { end -= 1 }
    }
    var index = end
    while index > 0 {
      index -= 1
      let byte = name[index]
      if ignoresPunctuation, byte.isASCIIPunctuation { continue }
      hash = Self.combine(hash, byte.lowercasedASCII)
      length += 1
      guard index == 0 || (trailingWords && startsWord(name, at: index)) else { continue }
      if holds(name, end: end, length: length, hash: hash) { return true }
    }
    // A name whose first characters are punctuation (`_token`) never reached index 0 above.
    return index == 0 && !trailingWords && length > 0 && holds(name, end: end, length: length, hash: hash)
  }

  private func startsWord(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    let before = name[index - 1]
    return before.isASCIIPunctuation || (name[index].isASCIIUppercase && !before.isASCIIUppercase)
  }

  private func holds(_ name: UnsafeBufferPointer<UInt8>, end: Int, length: Int, hash: UInt64) -> Bool {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while !slots[slot].isEmpty {
      if slots[slot].count == length, isEqual(slots[slot], name, end: end) { return true }
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
    let mixed = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    return mixed ^ (mixed >> 29)
  }
}

extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Every ASCII character but letters and digits; bytes of other characters count as letters.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}
