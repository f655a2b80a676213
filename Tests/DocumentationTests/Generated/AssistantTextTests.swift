import Foundation
import Testing

/// The file `llms.txt` for coding assistants, made of the articles.
@Suite(.limited) struct AssistantTextTests {
  /// Returns the paragraph after the title of an article, on one line.
  private func abstract(of article: String) -> String {
    let paragraphs = article.components(separatedBy: "\n\n")
    return (paragraphs.dropFirst().first ?? "").split(separator: "\n").joined(separator: " ")
  }

  private func title(of article: String) -> String {
    String(article.prefix { $0 != "\n" }.drop { "# `".contains($0) }).replacing("`", with: "")
  }

  /// Returns the text of a section of an article, without its heading.
  private func section(_ heading: String, of article: String) -> String {
    let text = article.components(separatedBy: "\n## \(heading)\n").dropFirst().first ?? ""
    return (text.components(separatedBy: "\n## ").first ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns a text with links to symbols as code, and with links to articles as their names.
  private func plain(_ text: String) -> String {
    text.replacing("``", with: "`").replacing(/<doc:(\w+)>/) { "\"\($0.1)\"" }
  }

  @Test func `the file for coding assistants is made of the articles`() throws {
    let glance = try Repository.text("Sources/RequestBehaviors/RequestBehaviors.docc/AtAGlance.md")
    let calls = section("Ten calls", of: glance).components(separatedBy: "```")[1]
    var parts = [
      "# RequestBehaviors",
      "> A Swift 6 HTTP client of composable request behaviors, on Linux and on Apple systems, without dependencies.",
      "Write the library's own calls, not those of URLSession or Alamofire. On Linux, servers and tools pass\n"
        + "`transport: .curl()` of the product `RequestBehaviorsCurl`.",
      "## Ten calls", "```\(calls)```",
      "## The traps", plain(section("The traps", of: glance)),
    ]
    for module in Repository.modules {
      let folder = "Sources/\(module)/\(module).docc"
      let lines = try Repository.articles(of: module).map { article in
        "- [\(title(of: article.text))](\(folder)/\(article.name).md): \(plain(abstract(of: article.text)))"
      }
      parts += ["## \(module)", lines.joined(separator: "\n")]
    }
    let text = parts.joined(separator: "\n\n") + "\n"
    try Repository.expect("llms.txt", contains: text)
    #expect(text.contains("## The traps\n\n- **A path made at run time**"))
  }
}
