extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIILowercase: Bool { self &- 0x61 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Every ASCII character but letters and digits; bytes of other characters count as letters.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}
