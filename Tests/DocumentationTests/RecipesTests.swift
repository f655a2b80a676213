#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// The programs of "Recipes", and what they print.
  @Suite(.limited) struct RecipesTests {
    /// The blocks of the article that are fenced as text, by the first line of the program before each.
    private func output(of recipe: String) throws -> String {
      let article = try Repository.text("Sources/RequestBehaviors/RequestBehaviors.docc/Recipes.md")
      let program = try Repository.text("Tests/Fixtures/Recipes/\(recipe)/main.swift")
      let parts = article.components(separatedBy: "```swift\n\(program)```\n")
      #expect(parts.count == 2, "the article has the whole program once")
      let after = parts.last?.components(separatedBy: "```text\n").dropFirst().first
      return after?.components(separatedBy: "```").first ?? ""
    }

    @Test(arguments: ["FixedBearer", "FromURLSession", "OfflineFirst", "PollUntilDone", "UploadWithProgress"])
    func `a program prints what the article shows`(recipe: String) async throws {
      let program = try #require(ChildProcess.fixture(recipe))
      // The programs keep their files, as an app does.
      let folder = URL.temporaryDirectory.appending(path: "recipe-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let result = try await ChildProcess.run(
        URL(filePath: "/usr/bin/env"), ["TMPDIR=\(folder.path)", program.path])
      #expect(result.status == 0)
      let shown = try output(of: recipe).trimmingCharacters(in: .newlines)
      #expect(result.text.trimmingCharacters(in: .newlines) == shown)
    }

    @Test func `the first program shows what GitHub has`() async throws {
      struct Repository: Decodable {
        let name: String
        let description: String
      }
      let mock = MockTransport(baseURL: URL(string: "https://api.github.com"))
      mock.on(.get, "repos/swiftlang/swift").respond(jsonText: #"{"name":"swift","description":"a language","id":1}"#)
      let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.logging(), .resilience()], transport: mock)
      let repository: Repository = try await client.send(
        .get("repos/swiftlang/swift"))
      #expect((repository.name, repository.description) == ("swift", "a language"))
    }
  }
#endif
