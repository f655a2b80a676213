/// Writes words that a POSIX shell reads back byte for byte.
enum ShellQuoting {
  /// Returns a word in single quotes, or bare if that is safe.
  ///
  /// Within single quotes every byte but the quote itself stands for itself (POSIX Shell §2.2.2); a quote ends them, is
  /// escaped, and begins them again.
  static func quote(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.utf8.allSatisfy(\.isPlainInShell)
    return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
  }

  /// Returns bytes as a `printf` call that writes them, for those that no word can hold: NUL and broken UTF-8.
  static func printf(_ bytes: some Sequence<UInt8>) -> String {
    var format = ""
    for byte in bytes {
      switch byte {
      // A leading dash would be an option.
      case UInt8(ascii: "-") where format.isEmpty: format += "\\" + octal(byte)
      case UInt8(ascii: "%"): format += "%%"
      case UInt8(ascii: "\\"): format += #"\\"#
      // Three octal digits always, or a digit that follows would be read as part of the escape.
      case ..<0x20, UInt8(ascii: "'"), 0x7F...: format += "\\" + octal(byte)
      default: format.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return "printf '\(format)'"
  }

  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return String(repeating: "0", count: 3 - digits.count) + digits
  }
}

extension UInt8 {
  fileprivate var isPlainInShell: Bool {
    isASCIIAlphanumeric || "-_./:@%+,=".utf8.contains(self)
  }
}
