import Foundation
import Testing

/// Every Swift sample of the README, the articles and the doc comments stands, line by line, in a test that compiles.
@Suite(.limited) struct SampleCoverageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  struct Sample: CustomTestStringConvertible, Sendable {
    let file: String
    let line: Int
    let lines: [Substring]
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

  /// The lines of a file that are Markdown: all of an article's, those in doc comments of a Swift file; `nil` elsewhere.
  private static func markdown(in file: URL) throws -> [Substring?] {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    guard file.pathExtension == "swift" else { return lines }
    return lines.map { line in
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("///") else { return nil }
      let text = line.dropFirst(3)
      return text.first == " " ? text.dropFirst() : text
    }
  }

  /// The blocks of a file that are fenced as Swift.
  private static func samples(in file: URL) throws -> [Sample] {
    var samples: [Sample] = []
    // The block that is open, of any language.
    var block: (isSwift: Bool, lines: [Substring])?
    for (index, line) in try markdown(in: file).enumerated() {
      guard let line else {
        block = nil
        continue
      }
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      switch (block, isFence) {
      case (let open?, true):
        if open.isSwift {
          samples.append(Sample(file: file.lastPathComponent, line: index - open.lines.count, lines: open.lines))
        }
        block = nil
      case (nil, true): block = (line.hasSuffix("```swift"), [])
      case (_?, false): block?.lines.append(line)
      case (nil, false): break
      }
    }
    return samples
  }

  private static let samples: [Sample] = {
    let documents = [root.appending(path: "README.md")] + files(under: "Sources", suffix: ".md")
    return (documents + files(under: "Sources", suffix: ".swift")).flatMap { (try? samples(in: $0)) ?? [] }
  }()

  /// The sources of this target and the programs that it runs, whose lines begin after a line break each.
  private static let testedText: Data = {
    let folders = ["Tests/DocumentationTests", "Tests/Fixtures/Recipes"]
    let sources = folders.flatMap { files(under: $0, suffix: ".swift") }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    return Data(sources.map { "\n" + trimmedLines(of: $0).joined(separator: "\n") }.joined(separator: "\n").utf8)
  }()

  private static func stands(_ lines: [String]) -> Bool {
    testedText.range(of: Data(("\n" + lines.joined(separator: "\n")).utf8)) != nil
  }

  @Test func `articles and doc comments have samples`() {
    #expect(Self.samples.count { $0.file.hasSuffix(".md") } > 60)
    #expect(Self.samples.count { $0.file.hasSuffix(".swift") } > 80)
  }

  /// The rendered page shows about as many columns beside its list of contents, and cuts the rest off.
  @Test(arguments: samples)
  func `a sample is at most 72 columns wide`(sample: Sample) {
    #expect(sample.lines.filter { $0.count > 72 }.isEmpty)
  }

  @Test(arguments: samples)
  func `each sample is part of a test`(sample: Sample) {
    let lines = Self.trimmedLines(of: sample.lines.joined(separator: "\n"))
    let stands = Self.stands(lines)
    let missing = stands ? nil : lines.first { !Self.stands([$0]) }
    #expect(
      stands,
      "the first line that stands in no test at all: \(missing ?? "none; only their order or neighbours differ")")
  }
}
