import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Pages".
@Suite(.limited) struct PagesSamplesTests {
  private struct Events: Codable, Sendable {
    var names: [String]
    var nextCursor: String?
  }

  private struct Search: Codable, Sendable {
    var offset: Int
  }

  private let mock = MockTransport(baseURL: baseURL)
  private let shown = Journal()
  private var client: NetworkClient { NetworkClient(baseURL: baseURL, transport: mock) }

  private func show(_ issues: [Issue]) { shown.note(issues.map { "\($0.id)" }.joined(separator: " ")) }

  @Test func `pages follow links`() async throws {
    mock.on(.get, "issues", query: ["page": "2"]).respond(json: [Issue(id: 2)])
    mock.on(.get, "issues").respond(json: [Issue(id: 1)], headers: ["Link": "<?page=2>; rel=next"])
    let pages = client.pages(.get("issues").returning([Issue].self))
    for try await page in pages {
      show(page.value)
    }
    for try await page in pages.prefix(3) {
      show(page.value)
    }
    #expect(shown.entries == ["1", "2", "1", "2"])
    let response: NetworkResponse = try await client.send(.get("issues"))
    if let next = response.links["next"] {
      print("there is more at \(next)")
    }
    #expect(response.links["next"]?.query() == "page=2")
  }

  @Test func `pages follow a cursor`() async throws {
    mock.on(.get, "events", query: ["after": "a"]).respond(json: Events(names: ["2"]))
    mock.on(.get, "events").respond(json: Events(names: ["1"], nextCursor: "a"))
    let pages = client.pages(
      .get("events").returning(Events.self),
      following: .cursor("after") { $0.nextCursor })
    var names: [String] = []
    for try await page in pages { names += page.value.names }
    #expect(names == ["1", "2"])
  }

  @Test func `pages follow a custom rule`() async throws {
    mock.on(.post, "search").respond(json: [Issue(id: 1), Issue(id: 2)]).respond(json: [Issue]())
    let pages = client.pages(
      .post("search", body: .json(Search(offset: 0)))
        .returning([Issue].self),
      following: .request { page, request in
        guard !page.value.isEmpty else { return nil }
        var next = request
        let offset = page.value.last?.id ?? 0
        next.body = .json(Search(offset: offset))
        return next
      })
    for try await page in pages { show(page.value) }
    #expect(shown.entries == ["1 2", ""])
    #expect(try mock.sent.map { try $0.json(Search.self).offset } == [0, 2])
  }
}
