/// The texts of a waterfall.
enum WaterfallText {
  /// Returns text for HTML: markup is escaped; control characters and those that change the direction of text are shown
  /// as escapes.
  static func escape(_ text: some StringProtocol) -> String {
    var output = ""
    output.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      case "'": output += "&#39;"
      case "\n", "\t": output += " "
      case _ where isHidden(scalar.value): output += "\\u{\(String(scalar.value, radix: 16))}"
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  /// Whether a character is invisible or changes the order of others.
  private static func isHidden(_ value: UInt32) -> Bool {
    value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x61C || value == 0xFEFF
      || (0x200B...0x200F).contains(value) || (0x2028...0x202E).contains(value) || (0x2060...0x2069).contains(value)
      || (0xE0000...0xE007F).contains(value)
  }

  /// Returns a duration such as `< 1 ms`, `29 ms`, `1.43 s` or `2 min 3 s`.
  static func duration(_ duration: Duration) -> String {
    let seconds = duration.inSeconds
    if seconds < 0.001 { return "< 1 ms" }
    if seconds < 0.9995 { return "\(Int((seconds * 1_000).rounded())) ms" }
    if seconds < 59.995 { return decimals(seconds, 2) + " s" }
    let whole = Int(min(seconds, 1e12).rounded())
    return "\(whole / 60) min" + (whole % 60 == 0 ? "" : " \(whole % 60) s")
  }

  /// Returns a number of bytes such as `2 B`, `132 kB` or `1.3 MB`.
  static func bytes(_ count: Int) -> String {
    if count < 1_000 { return "\(count) B" }
    if count < 999_500 { return "\(Int((Double(count) / 1_000).rounded())) kB" }
    return decimals(Double(count) / 1_000_000, 1) + " MB"
  }

  /// Returns a share of 100 with at most three decimals.
  static func percent(_ value: Double) -> String {
    guard value.isFinite else { return "0%" }
    let thousandths = Int((min(max(value, 0), 100) * 1_000).rounded())
    return "\(thousandths / 1_000).\(String(1_000 + thousandths % 1_000).dropFirst())%"
  }

  private static func decimals(_ value: Double, _ count: Int) -> String {
    let factor = count == 2 ? 100 : 10
    let scaled = Int((value * Double(factor)).rounded())
    return "\(scaled / factor).\(String(factor + scaled % factor).dropFirst())"
  }
}
