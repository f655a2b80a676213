import Foundation

/// Blocks of base64 between lines that name their content (RFC 7468).
enum PEM {
  /// Returns the bytes of all blocks with a label, in their order; `nil` for a block that is incomplete or not base64.
  static func blocks(_ label: String, in text: String) -> [Data?] {
    text.components(separatedBy: "-----BEGIN \(label)-----").dropFirst().map { block in
      guard let end = block.range(of: "-----END \(label)-----") else { return nil }
      return Data(base64Encoded: String(block[..<end.lowerBound].filter { !$0.isWhitespace }))
    }
  }

  /// Returns bytes as a block.
  static func text(_ bytes: Data, label: String) -> String {
    let base64 = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
  }
}
