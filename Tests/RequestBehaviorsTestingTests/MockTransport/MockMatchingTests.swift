import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct MockMatchingTests {
  static let paths: [(base: String, stub: String, url: String, matches: Bool)] = [
    ("https://e.com/", "users/1", "https://e.com/users/1", true),
    ("https://e.com/", "/users/1", "https://e.com/users/1", true),
    ("https://e.com", "users/1", "https://e.com/users/1", true),
    ("https://e.com/v1", "users/1", "https://e.com/v1/users/1", true),
    ("https://e.com/v1/", "users/1", "https://e.com/v1/users/1", true),
    ("https://e.com/v1", "users/1", "https://e.com/users/1", false),
    ("https://e.com/v1/", "", "https://e.com/v1/", true),
    ("https://e.com/v1", "", "https://e.com/v1", true),
    ("https://e.com", "", "https://e.com/", true),
    ("https://e.com/", "users", "https://e.com/users/", false),
    ("https://e.com/", "users/", "https://e.com/users/", true),
    ("https://e.com/", "users/*", "https://e.com/users/1", true),
    ("https://e.com/", "users/*", "https://e.com/users/", false),
    ("https://e.com/", "users/*", "https://e.com/users/1/repos", false),
    ("https://e.com/", "users/*/repos", "https://e.com/users/1/repos", true),
    ("https://e.com/", "users/*/repos", "https://e.com/users/a%2Fb/repos", true),
    ("https://e.com/", "users/**", "https://e.com/users", true),
    ("https://e.com/", "users/**", "https://e.com/users/1/2/3", true),
    ("https://e.com/", "**/3", "https://e.com/users/1/2/3", true),
    ("https://e.com/", "**/4", "https://e.com/users/1/2/3", false),
    ("https://e.com/v1", "**", "https://e.com/v2/a", false),
    ("https://e.com/", "a b/ü", "https://e.com/a%20b/%C3%BC", true),
    ("https://e.com/", "a%20b", "https://e.com/a%20b", true),
    ("https://e.com/", "%2A", "https://e.com/x", false),
    ("https://e.com/", "%2A", "https://e.com/*", true),
    ("https://e.com/", "users", "https://E.com:443/users", true),
    ("https://e.com/", "users", "http://e.com/users", false),
    ("https://e.com/", "users", "https://f.com/users", false),
    ("https://e.com/v1", "https://f.com/users", "https://f.com/users", true),
    ("https://e.com/v1", "https://f.com", "https://f.com/", true),
    ("https://e.com/v1", "https://f.com/*", "https://f.com/users", true),
    ("https://e.com/", "a?x=1", "https://e.com/a?y=2&x=1", true),
    ("https://e.com/", "a?x=1", "https://e.com/a?x=2", false),
  ]

  @Test(arguments: paths) func `a path pattern matches the paths that it describes`(
    _ path: (base: String, stub: String, url: String, matches: Bool)
  ) async throws {
    let mock = MockTransport(baseURL: URL(string: path.base))
    mock.on(.get, path.stub).respond()
    let request = NetworkRequest(url: try #require(URL(string: path.url)))
    let response = try? await mock.send(request)
    #expect((response != nil) == path.matches)
  }

  @Test func `a stub without conditions matches any request`() async throws {
    let mock = MockTransport()
    mock.on().respond()
    let url = try #require(URL(string: "http://other.example/a/b?c"))
    #expect(try await mock.send(NetworkRequest("REPORT", url: url)).statusCode == 200)
  }

  @Test func `a request must meet a stub's query and header conditions`() async throws {
    let mock = MockTransport()
    mock.on(query: ["a": [1, 2], "b": "x y"], headers: ["accept": "text/plain"], where: { $0.attemptNumber == 0 })
      .respond()
    let url = try #require(URL(string: "https://example.com/?c=3&a=2&a=1&b=x%20y"))
    #expect(try await mock.send(NetworkRequest(url: url, headers: ["Accept": "text/plain"])).statusCode == 200)
    await #expect(throws: NetworkError.self) {
      try await mock.send(NetworkRequest(url: url, headers: ["Accept": "text/html"]))
    }
    let other = try #require(URL(string: "https://example.com/?a=1&b=x%20y"))
    await #expect(throws: NetworkError.self) {
      try await mock.send(NetworkRequest(url: other, headers: ["Accept": "text/plain"]))
    }
  }

  @Test func `messages do not show a secret`() async throws {
    let mock = MockTransport()
    mock.on(headers: ["Authorization": "Bearer expected-secret"]).respond()
    var request = NetworkRequest(url: try #require(URL(string: "https://example.com/?access_token=s3cret-a")))
    request.headers.set("Authorization", "Bearer s3cret-b", sensitive: .baseURL)
    let error = await #expect(throws: NetworkError.self) { try await mock.send(request) }
    let text = try #require(error).description
    #expect(text.contains("the header Authorization is"))
    #expect(!text.contains("secret"))
    #expect(!text.contains("s3cret"))
    let verification = #expect(throws: MockVerificationError.self) { try mock.verify() }
    #expect(verification?.description.contains("s3cret") == false)
  }
}
