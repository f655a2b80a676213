import Foundation
import Testing

/// The files of the repository, for tests that compare documents with the code.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let modules = [
    "RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsOAuth2",
    "RequestBehaviorsSQLite", "RequestBehaviorsCurl", "RequestBehaviorsTesting",
  ]

  /// Returns the text of a file.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the paths of the files under a folder that have a suffix, sorted.
  static func paths(under folder: String, suffix: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path(percentEncoded: false))
    return (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(suffix) }
      .map { "\(folder)/\($0)" }.sorted()
  }

  /// The articles of a module by their names, without the extensions of a symbol's page.
  static func articles(of module: String) throws -> [(name: String, text: String)] {
    try paths(under: "Sources/\(module)/\(module).docc", suffix: ".md").map { path in
      (URL(filePath: path).deletingPathExtension().lastPathComponent, try text(path))
    }
    .filter { !$0.text.hasPrefix("# ``") || $0.name == module }
  }

  /// The article or document at a path must have a text, such as a table that is made from the code.
  ///
  /// A failure shows the text. With `UPDATE_DOCUMENTATION=1` in the environment the file gets it: a table replaces the
  /// one with the same first line, any other text the whole file.
  static func expect(
    _ path: String, contains text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try Self.text(path)
    guard !found.contains(text) else { return }
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTATION"] == "1" {
      try replaced(text, in: found).write(to: root.appending(path: path), atomically: true, encoding: .utf8)
    }
    Testing.Issue.record("\(path) is out of date; it is to have:\n\(text)", sourceLocation: sourceLocation)
  }

  /// Returns a document with the table that begins with the same line replaced.
  private static func replaced(_ table: String, in document: String) -> String {
    let head = table.prefix { $0 != "\n" }
    guard head.hasPrefix("|"), let start = document.range(of: head + "\n") else { return table }
    let rest = document[start.lowerBound...].split(separator: "\n", omittingEmptySubsequences: false)
    let after = rest.drop { $0.hasPrefix("|") }.joined(separator: "\n")
    return document[..<start.lowerBound] + table + "\n" + after
  }
}

/// The declarations of the sources with their doc comments.
struct Declarations {
  /// The texts of the doc comments before the lines that match a pattern, by the pattern's first group.
  ///
  /// - Parameters:
  ///   - pattern: The pattern of the declaration's line.
  ///   - folder: The folder of the sources.
  /// - Returns: Names and doc comments, in the order of the sources.
  /// - Throws: The error of reading a file.
  static func matching(
    _ pattern: Regex<(Substring, Substring)>, under folder: String
  ) throws -> [(name: String, comment: String)] {
    var found: [(name: String, comment: String)] = []
    for path in Repository.paths(under: folder, suffix: ".swift") {
      var comment: [Substring] = []
      for line in try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false) {
        let trimmed = line.drop { $0 == " " }
        if trimmed.hasPrefix("///") {
          comment.append(trimmed.dropFirst(3).drop { $0 == " " })
          continue
        }
        if let match = line.firstMatch(of: pattern) {
          // The summary is the first paragraph.
          let summary = comment.prefix { !$0.isEmpty }.joined(separator: " ")
          found.append((String(match.1), summary))
        }
        comment = []
      }
    }
    return found
  }
}
