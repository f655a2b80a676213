import RequestBehaviors

/// The pairs of a query in their order, decoded strictly.
struct FormPairs: Sendable {
  struct Pair: Sendable, Hashable {
    /// The pair as it was written.
    let written: String
    /// The name; `nil` if it is no UTF-8 or has a bad escape.
    let name: String?
    /// The value; `nil` if it is no UTF-8 or has a bad escape.
    let value: String?
  }

  private(set) var pairs: [Pair]

  /// Reads a query without its `?`.
  init(_ query: some StringProtocol) {
    pairs = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Pair(
        written: String(pair), name: FormPairs.decoded(parts[0]),
        value: parts.count > 1 ? FormPairs.decoded(parts[1]) : "")
    }
  }

  /// The names in their order.
  var names: [String] { pairs.compactMap(\.name) }

  /// Returns the values of a name that are not empty; `nil` for a value that cannot be decoded.
  ///
  /// An empty value counts as missing (RFC 6749 §3.1).
  func values(_ name: String) -> [String?] { pairs.filter { $0.name == name && $0.value != "" }.map(\.value) }

  /// Removes pairs that are written the same, once each; returns whether all were there.
  mutating func remove(_ others: FormPairs) -> Bool {
    for other in others.pairs {
      guard let index = pairs.firstIndex(where: { $0.written == other.written }) else { return false }
      pairs.remove(at: index)
    }
    return true
  }

  /// Decodes a part of a form; `nil` for a bad escape or octets that are no UTF-8.
  private static func decoded(_ text: some StringProtocol) -> String? {
    let octets = Array(text.utf8)
    for (index, octet) in octets.enumerated() where octet == UInt8(ascii: "%") {
      guard PercentEncoding.isEscape(octets, at: index) else { return nil }
    }
    return String(validating: PercentEncoding.decodedForm(octets[...]), as: UTF8.self)
  }
}
