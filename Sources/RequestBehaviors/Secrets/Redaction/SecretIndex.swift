/// The forms of secret values in the order of their octets, among which one walk through a text finds the longest.
///
/// Each octet of the text narrows the forms that are left. So the work for a place in a text hardly grows with the
/// number of values, which a server can make large.
struct SecretIndex: Sendable {
  private let patterns: [SecretPattern]
  /// The octets of all forms, one after the other, and where those of each form begin.
  private let octets: [UInt8]
  private let starts: [Int]
  /// The forms that begin with each octet.
  private let firsts: [Range<Int>]

  init(_ unsorted: [SecretPattern]) {
    patterns = unsorted.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    octets = patterns.flatMap(\.bytes)
    starts = patterns.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.bytes.count) }
    var firsts: [Range<Int>] = Array(repeating: 0..<0, count: 256)
    for (index, pattern) in patterns.enumerated() {
      let octet = Int(pattern.bytes[0])
      firsts[octet] = (firsts[octet].isEmpty ? index : firsts[octet].lowerBound)..<(index + 1)
    }
    self.firsts = firsts
  }

  /// Whether there is no form.
  var isEmpty: Bool { patterns.isEmpty }

  /// A form that is in a text.
  struct Match {
    let pattern: SecretPattern
    /// The index after it.
    let end: Int
  }

  /// Returns the longest form that is at an index of a text, plain or in an encoding.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - start: The index.
  ///   - isCutOff: Whether the beginning of a form at the end of the text counts.
  /// - Returns: The form; `nil` if none is there.
  func match(in text: UnsafeBufferPointer<UInt8>, at start: Int, isCutOff: Bool) -> Match? {
    guard !firsts[Int(text[start])].isEmpty || SecretEncoding.leads.contains(text[start]) else { return nil }
    let plain = walk(text, from: start, isCutOff: isCutOff) { _ in nil }
    var found = plain.found
    // An encoding differs from plain text only at its escapes.
    let seen = text[start..<min(plain.stop + 1, text.count)]
    for encoding in SecretEncoding.allCases where seen.contains(where: encoding.isLead) {
      // A plus is a space in a form, and itself in a URL.
      for plusIsSpace in [false, true] {
        let walk = walk(text, from: start, isCutOff: isCutOff) { encoding.escape(in: text, at: $0, plusIsSpace) }
        if length(of: walk.found) > length(of: found) { found = walk.found }
      }
    }
    return found.map { Match(pattern: patterns[$0.pattern], end: $0.end) }
  }

  private typealias Found = (pattern: Int, end: Int)

  private func length(of found: Found?) -> Int { found.map { starts[$0.pattern + 1] - starts[$0.pattern] } ?? 0 }

  /// Follows a text as long as it is the beginning of a form.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - start: The index of its first byte.
  ///   - isCutOff: Whether the beginning of a form at the end of the text counts.
  ///   - escape: Returns the octets of an escape at an index, and its length; `nil` for a plain byte.
  /// - Returns: The longest form, and the index of the byte that follows no form.
  private func walk(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, isCutOff: Bool,
    _ escape: (Int) -> (octets: [UInt8], length: Int)?
  ) -> (found: Found?, stop: Int) {
    var (left, depth, place) = (patterns.indices, 0, start)
    var found: Found?
    while true {
      // The shortest is the first of those that are left.
      if depth > 0, starts[left.lowerBound] + depth == starts[left.lowerBound + 1] { found = (left.lowerBound, place) }
      guard place < text.count else {
        let last = left.upperBound - 1
        if isCutOff, depth >= KnownSecrets.minimumLength { found = (last, place) }
        return (found, place)
      }
      if let (octets, length) = escape(place) {
        for octet in octets where !left.isEmpty {
          left = narrowed(left, at: depth, to: octet)
          depth += 1
        }
        if left.isEmpty { return (found, place) }
        place += length
      } else {
        left = narrowed(left, at: depth, to: text[place])
        if left.isEmpty { return (found, place) }
        depth += 1
        place += 1
      }
    }
  }

  /// Returns those of the forms, which have the same octets up to a depth, that have an octet there.
  private func narrowed(_ forms: Range<Int>, at depth: Int, to octet: UInt8) -> Range<Int> {
    if depth == 0 { return firsts[Int(octet)] }
    let first = bound(of: forms) { has($0, below: Int(octet), at: depth) }
    let end = bound(of: first..<forms.upperBound) { has($0, below: Int(octet) + 1, at: depth) }
    return first..<end
  }

  /// Whether a form ends at a depth, or has an octet there that is less than another.
  private func has(_ form: Int, below octet: Int, at depth: Int) -> Bool {
    let place = starts[form] + depth
    return place == starts[form + 1] || Int(octets[place]) < octet
  }

  /// Returns the first form for which a condition does not hold that holds for those before it only.
  private func bound(of forms: Range<Int>, where isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (forms.lowerBound, forms.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
