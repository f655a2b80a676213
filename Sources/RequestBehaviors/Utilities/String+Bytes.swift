extension String {
  /// Returns whether every byte of the text in UTF-8 satisfies a condition; true for an empty text.
  ///
  /// It reads the bytes where they are. The view `utf8` takes several times as long for each.
  func hasOnlyBytes(_ isAllowed: (UInt8) -> Bool) -> Bool {
    var text = self
    return text.withUTF8 { $0.allSatisfy(isAllowed) }
  }
}
