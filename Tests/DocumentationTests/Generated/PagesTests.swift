import Foundation
import Testing

/// Rules that every page of the documentation keeps.
@Suite(.limited) struct PagesTests {
  /// The names under the topics of a module's pages.
  private func topics(of module: String) throws -> Set<String> {
    let topics = try Repository.paths(under: "Sources/\(module)/\(module).docc", suffix: ".md")
      .compactMap { try Repository.text($0).components(separatedBy: "\n## Topics\n").dropFirst().first }
    let links = topics.joined(separator: "\n").matches(of: /(?m)^- (?:``(\w+)[^`]*``|<doc:(\w+)>)/)
    return Set(links.map { String($0.1 ?? $0.2 ?? "") })
  }

  @Test(arguments: Repository.modules) func `every public type has a topic`(module: String) throws {
    var names: Set<String> = []
    for path in Repository.paths(under: "Sources/\(module)", suffix: ".swift") {
      // Types within a condition may be missing on the platform that makes the pages, and links to them would be wrong.
      let declarations = try Repository.text(path).matches(
        of: /(?m)^public (?:final |indirect )?(?:struct|class|enum|protocol|actor|typealias) (\w+)/)
      names.formUnion(declarations.map { String($0.1) })
    }
    let missing = try names.subtracting(topics(of: module)).sorted()
    #expect(missing.isEmpty, "they belong under a topic of \(module).md")
  }

  @Test(arguments: Repository.modules) func `every article has a topic`(module: String) throws {
    let names = try Set(Repository.articles(of: module).map(\.name)).subtracting([module])
    let missing = try names.subtracting(topics(of: module)).sorted()
    #expect(missing.isEmpty, "they belong under a topic of \(module).md")
  }

  @Test(arguments: Repository.modules) func `every article leads on`(module: String) throws {
    let ends = try Repository.articles(of: module).filter { article in
      guard article.name != module else { return false }
      let tail = article.text.components(separatedBy: "\n## ").last ?? ""
      let leadsOn = tail.hasPrefix("Next\n") || tail.hasPrefix("See also\n")
      return !leadsOn || !tail.contains("<doc:") && !tail.contains("``")
    }
    #expect(ends.map(\.name) == [], "they end without a section \"Next\" or \"See also\" with links")
  }

  @Test(arguments: ["README.md", "Sources/RequestBehaviors/RequestBehaviors.docc/GettingStarted.md"])
  func `the version to install is the newest of the changelog`(path: String) throws {
    let changelog = try Repository.text("Sources/RequestBehaviors/RequestBehaviors.docc/Changelog.md")
    let newest = try #require(changelog.firstMatch(of: /(?m)^## (\d+\.\d+\.\d+)$/)?.1)
    #expect(try Repository.text(path).contains("from: \"\(newest)\""))
  }

  @Test func `every feature that the README announces exists`() throws {
    let announced = try Repository.text("README.md").matches(of: /(?m)^- \*\*([^*]+)\*\*/)
      .flatMap { $0.1.lowercased().split(separator: " ") }.filter { $0.count > 3 }
    let limitations = try Repository.text("Sources/RequestBehaviors/RequestBehaviors.docc/Limitations.md")
    let section = limitations.components(separatedBy: "\n## Not built yet\n").dropFirst().first ?? ""
    let missing = (section.components(separatedBy: "\n## ").first ?? "").matches(of: /(?m)^\| ([^|]+) \|/)
      .map { $0.1.lowercased() }
    #expect(announced.contains("outbox"))
    #expect(missing.count > 1)
    for row in missing {
      #expect(announced.filter { row.contains($0) } == [], "\"\(row)\" is not built yet, but the README announces it")
    }
  }

  @Test func `every picture has a width and a height`() throws {
    let pictures = Repository.paths(under: "Sources", suffix: ".svg")
    let wrong = try pictures.filter { path in
      let head = try Repository.text(path).prefix { $0 != ">" }
      return !head.contains(" width=") || !head.contains(" height=")
    }
    #expect(pictures.count > 20)
    #expect(wrong.isEmpty)
  }
}
