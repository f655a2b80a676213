extension String {
  /// Returns the text with each occurrence of a scalar replaced.
  ///
  /// `replacing(_:with:)` compares characters, and a quote with a combining mark after it is another character than a
  /// quote. A shell, a database or a browser reads scalars, so text is escaped by scalars.
  ///
  /// - Parameters:
  ///   - scalar: The scalar to replace.
  ///   - replacement: The text in its place.
  /// - Returns: The text.
  package func replacing(scalar: Unicode.Scalar, with replacement: String) -> String {
    guard unicodeScalars.contains(scalar) else { return self }
    var result = String.UnicodeScalarView()
    for found in unicodeScalars {
      if found == scalar { result.append(contentsOf: replacement.unicodeScalars) } else { result.append(found) }
    }
    return String(result)
  }
}
