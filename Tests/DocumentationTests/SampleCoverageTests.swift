import Foundation
import Testing

/// Every Swift sample of the README and the articles stands, line by line, in a test that compiles and runs.
@Suite struct SampleCoverageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  struct Sample: CustomTestStringConvertible, Sendable {
    let file: String
    let line: Int
    let lines: [String]
    var testDescription: String { "\(file):\(line)" }
  }

  private static func files(under folder: String, suffix: String) -> [URL] {
    let enumerator = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    return (enumerator?.compactMap { $0 as? URL } ?? []).filter { $0.path().hasSuffix(suffix) }
  }

  private static func trimmedLines(of text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// The blocks of a Markdown file that are fenced as Swift.
  private static func samples(in file: URL) throws -> [Sample] {
    var samples: [Sample] = []
    var block: [Substring]?
    for (index, line) in try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if let lines = block, line.hasPrefix("```") {
        let text = lines.joined(separator: "\n")
        samples.append(
          Sample(file: file.lastPathComponent, line: index - lines.count, lines: trimmedLines(of: text)))
        block = nil
      } else if block != nil {
        block?.append(line)
      } else if line == "```swift" {
        block = []
      }
    }
    return samples
  }

  private static let samples: [Sample] = {
    let documents = [root.appending(path: "README.md")] + files(under: "Sources", suffix: ".md")
    return documents.flatMap { (try? samples(in: $0)) ?? [] }
  }()

  private static let testedText: Data = {
    let sources = files(under: "Tests", suffix: ".swift").compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    return Data(sources.map { trimmedLines(of: $0).joined(separator: "\n") }.joined(separator: "\n\n").utf8)
  }()

  private static func stands(_ text: String) -> Bool { testedText.range(of: Data(text.utf8)) != nil }

  @Test func `there are samples`() { #expect(Self.samples.count > 20) }

  @Test(arguments: samples)
  func `a sample stands in a test`(sample: Sample) {
    let stands = Self.stands(sample.lines.joined(separator: "\n"))
    let missing = stands ? nil : sample.lines.first { !Self.stands($0) }
    #expect(
      stands,
      "the first line that stands in no test at all: \(missing ?? "none; only their order or neighbours differ")")
  }
}
