/// Quotes words so that a POSIX shell reads them back byte for byte.
enum ShellQuoting {
  /// Returns a word in single quotes, or without quotes if that is safe.
  ///
  /// Within single quotes every byte except the quote itself is literal (POSIX Shell §2.2.2). A quote in the word
  /// closes them, is escaped, and opens them again.
  static func quote(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.utf8.allSatisfy(\.isPlainInShell)
    return isPlain ? word : "'" + word.replacing(scalar: "'", with: #"'\''"#) + "'"
  }

  /// Returns a `printf` call that writes bytes which do not fit into a word: NUL and invalid UTF-8.
  static func printf(_ bytes: some Sequence<UInt8>) -> String {
    var format = ""
    for byte in bytes {
      switch byte {
      // A leading dash would begin an option.
      case UInt8(ascii: "-") where format.isEmpty: format += "\\" + octal(byte)
      case UInt8(ascii: "%"): format += "%%"
      case UInt8(ascii: "\\"): format += #"\\"#
      // Always three octal digits, because a digit that follows would otherwise be part of the escape.
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
